"""Every method under one name: its adapter, its settings, its title in tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, cast

from labelcut.experiments.methods.base import Inputs, Outcome


@dataclass(frozen=True)
class Method:
    """One adapter, ``fit(inputs, **settings) -> Outcome``; its module is loaded when first used."""

    name: str
    title: str
    module: str
    settings: dict[str, Any] = field(default_factory=dict)
    function: str = "fit"
    packages: tuple[str, ...] = ()
    """Packages beyond scikit-learn, for the record of versions."""
    is_ours: bool = False
    shares: str = ""
    """What it has in common with other methods on the same table; a worker does their runs in turn."""

    of_crowds: bool = False
    """Whether it combines labels of several annotators: ``function(task) -> CrowdOutcome``."""
    of_pictures: bool = False
    """Whether it judges labels by given opinions: ``function(task, **settings) -> Outcome``."""

    def load(self) -> Callable[..., Any]:
        """Give the adapter; the first call imports its libraries."""
        module = import_module(f"labelcut.experiments.methods.{self.module}")
        return cast("Callable[..., Any]", getattr(module, self.function))

    def fit(self, inputs: Inputs, **settings: Any) -> Outcome:
        """Run the adapter; `settings` go before the method's own."""
        outcome: Outcome = self.load()(inputs, **(self.settings | settings))
        return outcome


_TORCH = ("torch",)
_CLEANLAB = ("cleanlab",)
_EDITING = ("imbalanced-learn",)
_PAPER, _TUNED = "the paper's forest", "the tuned forest"

#: cleanlab's ways to flag, from probabilities.
FILTERS = {
    "noise_rate": "prune_by_noise_rate",
    "class": "prune_by_class",
    "both": "both",
    "joint": "confident_learning",
    "differs": "predicted_neq_given",
}

METHODS = {
    method.name: method
    for method in (
        Method("paper", "CHNC (paper)", "chnc", {"preset": "paper"}, is_ours=True, shares=_PAPER),
        Method("default", "LabelCut", "chnc", {"preset": "default"}, is_ours=True),
        Method(
            "literal",
            "CHNC (literal)",
            "chnc",
            {"preset": "literal", "share_forest": True},
            is_ours=True,
            shares=_PAPER,
        ),
        Method("hnc", "HNC", "chnc", function="fit_hnc", is_ours=True, shares=_PAPER),
        Method("forest", "Random forest", "forest", shares=_TUNED),
        Method("contradiction", "Contradiction", "forest", function="fit_plain"),
        Method("forest_layer", "Forest + layer", "forest_layer", shares=_TUNED),
        Method("extra_trees", "ExtraTrees", "extra_trees"),
        Method("boosting", "Boosting", "boosting"),
        Method("knn", "k-NN", "neighbors", shares=_TUNED),
        Method("spreading", "LabelSpreading", "spreading", shares=_TUNED),
        Method("self_training", "SelfTraining", "self_training", shares=_TUNED),
        Method("enn", "ENN + k-NN", "editing", packages=_EDITING, shares=_TUNED),
        Method("renn", "RENN + k-NN", "editing", {"repeated": True}, packages=_EDITING, shares=_TUNED),
        Method("cl", "Confident Learning", "confident_learning", packages=_CLEANLAB),
        Method(
            "cl_forest",
            "CL (tuned forest)",
            "confident_learning",
            {"base": "forest"},
            packages=_CLEANLAB,
            shares=_TUNED,
        ),
        Method(
            "datalab", "Datalab (features)", "confident_learning", function="fit_datalab", packages=_CLEANLAB
        ),
        Method("dividemix", "DivideMix", "dividemix", packages=_TORCH),
        Method("dividemix_0", "DivideMix, lambda_u 0", "dividemix", {"lambda_u": 0.0}, packages=_TORCH),
        Method("coteaching", "Co-teaching+", "coteaching", packages=_TORCH),
        Method("coteaching_clean", "Co-teaching+ (clean)", "coteaching", {"mode": "clean"}, packages=_TORCH),
        Method("resnet", "ResNet", "resnet", packages=_TORCH),
        Method("majority", "Majority", "crowds", function="majority", of_crowds=True),
        Method(
            "dawid_skene",
            "Dawid-Skene (crowd-kit)",
            "crowds",
            function="dawid_skene",
            packages=("crowd-kit",),
            of_crowds=True,
        ),
        Method(
            "crowdlab",
            "CROWDLAB (cleanlab)",
            "crowds",
            function="crowdlab",
            packages=_CLEANLAB,
            of_crowds=True,
        ),
        Method("combined", "combine", "crowds", function="combined", is_ours=True, of_crowds=True),
        Method(
            "combined_opinion",
            "combine, opinion",
            "crowds",
            function="combined_opinion",
            is_ours=True,
            of_crowds=True,
        ),
        Method("crowd_fit", "fit(X, Y)", "crowds", function="fitted", is_ours=True, of_crowds=True),
        Method("sight", "LabelCut", "pictures", function="labelcut", is_ours=True, of_pictures=True),
        Method(
            "self_confidence", "Self-confidence", "pictures", function="self_confidence", of_pictures=True
        ),
        Method(
            "prediction_differs",
            "Prediction differs",
            "pictures",
            function="prediction_differs",
            of_pictures=True,
        ),
        *(
            Method(
                f"filter_{name}",
                f"cleanlab, {filter_by}",
                "pictures",
                {"filter_by": filter_by},
                function="cleanlab_filter",
                packages=_CLEANLAB,
                of_pictures=True,
            )
            for name, filter_by in FILTERS.items()
        ),
        Method(
            "datalab_opinions",
            "Datalab",
            "pictures",
            function="datalab",
            packages=_CLEANLAB,
            of_pictures=True,
        ),
    )
}


def get_method(name: str) -> Method:
    """Give the method of that name."""
    if name not in METHODS:
        raise ValueError(f"no method {name!r}; choose one of {', '.join(METHODS)}.")
    return METHODS[name]
