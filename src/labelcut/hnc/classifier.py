"""HNC and Confidence HNC as scikit-learn estimators: scale, forest, graph, cuts, probabilities."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from labelcut.arrays import Floats, Ints, Mask
from labelcut.graph import build_index, kernel_weights, similarity_graph
from labelcut.hnc.columns import column_borders, scale_columns, weight_columns
from labelcut.hnc.explanation import Explanation, plain, weigh_sides
from labelcut.hnc.folds import deal_folds
from labelcut.hnc.forest import fit_forest
from labelcut.hnc.labels import UNLABELED, Labels, check_trust, hold_only_labels, read_labels
from labelcut.hnc.one_vs_rest import class_distribution, conclude, warn_if_degenerate
from labelcut.hnc.order import canonical_order, stand_ins
from labelcut.hnc.separation import Separation, StageClock, separate
from labelcut.hnc.settings import make_plan

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["HNC", "ConfidenceHNC", "find_label_issues"]


#: Each class beyond two is a cut of its own, and a y with this many classes is nearly always the wrong
#: column.
MAX_CLASSES = 100


class ConfidenceHNC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify rows and find wrong labels by minimum cuts on a similarity graph.

    Rows are joined to their nearest rows. Every label pulls its row to one side, as strongly as it can be
    trusted; the cheapest cut of the graph then separates the classes, and may put a row on the other side
    than its label. Labeled, mislabeled and unlabeled rows are taken in one ``fit``, in any order.

    Every parameter left at None is filled in by the preset; a value given here wins.

    Parameters
    ----------
    preset : {"default", "paper", "literal"}, default="default"
        "default" adds a forest prior to the cut and gives calibrated probabilities. "paper" is the
        published method with its gaps filled by what reproduces the published accuracy. "literal" is the
        text word for word, for comparison only.
    n_neighbors : int, optional
        Neighbours per row. By default 15 below 10000 rows, 10 from there on, and never more than there are.
    bandwidth : float, optional
        Width of the similarity kernel. By default 0.75 below 10000 rows, 0.5 from there on.
    kernel : {"squared", "literal"}, optional
        See :func:`labelcut.graph.similarity_graph`.
    one_sided : {"half", "full"}, optional
        What a neighbour counts that does not choose back.
    neighbor_search : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found, see :func:`labelcut.graph.neighbors`. "auto" is exact up to some 100000 rows
        and approximate above; ``graph_.recall`` then says how many of the true neighbours were found.
    scale : {"robust", "standard", "none"}, optional
        Bring columns to mean 0 and standard deviation 1 first. "robust" clips absurd values before that, so
        that one bad row cannot flatten a column; see :func:`labelcut.hnc.columns.column_borders`.
    importances : {"forest", "equal"} or array-like of shape (n_features,), optional
        How much each column counts in the distance between two rows. With fewer than five labeled rows per
        class no forest is asked, and all columns count alike.
    forest_tuning : {"oob", "cv"}, optional
        How the leaf size of the forest is chosen; "cv" is the paper's way and far slower.
    leaf_sizes : sequence of float, optional
        Leaf sizes to choose from, as shares of the labeled rows.
    n_trees : int, optional
        Trees in the forest.
    confidence_symmetric : bool, optional
        Judge negative labels by the mirror image of how positive ones are judged; False as printed in the
        paper.
    confidence_counts : {"free", "with_seeds"}, optional
        Whether seeds are counted in a confidence.
    confidence_scale : {"degree", "mean"}, optional
        What a confidence of 1 weighs: the mean degree, which is ``n_neighbors`` times the mean weight a row
        gives to its nearest rows; or the mean of all weights, as printed.
    confidence_strength : float, default=1.0
        A factor on that weight. Large values make every label a seed.
    confidence_in_folds : {"once", "each"}, default="once"
        Compute confidences once, or again in each fold without its hidden labels.
    breakpoints : {"exact", "grid"}, optional
        Look at every trade-off at which a cut changes, or at the 1001 values of the paper.
    prior_strengths : sequence of float, optional
        Strengths of the forest prior to choose from; ``()`` for no prior.
    tradeoff : {"crossing", "accuracy"} or float, optional
        How the trade-off is chosen from the folds: where a logistic fit crosses 1/2, or by the best
        accuracy. A number is taken as it is.
    n_folds : int, default=5
        Folds for the choice of the trade-off.
    enough_hidden : float, optional
        Run only as many of the folds as hide this many labels; ``inf`` runs all. From 100000 rows on (times
        classes, if more than two) one fold and one prior strength have to do.
    decision : {"probability", "cut"}, optional
        Predict the more probable class, or the side of the cut.
    flags : {"expected_f1", "side"}, optional
        Flag the labels that give the largest expected F1, or those that the prediction contradicts.
    noise : {"auto", "symmetric", "by_side"}, optional
        Whether both classes are taken to be mislabeled equally often. "auto" tests it.
    random_state : int, RandomState or None, default=0
        For the forest and the folds. With the default, the same table always gives the same answer.
    n_jobs : int, optional
        Threads, as in joblib. The result has the same bytes for any number.
    verbose : bool, default=False
        Tell each stage on the standard error stream.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    transduction_ : ndarray of shape (n_rows,)
        The predicted class of every row of ``X``. For rows whose status is "no evidence" it is only the
        forest's guess (without a forest the most frequent class).
    label_distributions_ : ndarray of shape (n_rows, n_classes)
        The probability of each class for every row of ``X``; equal for all classes where there is no
        evidence.
    label_confidence_ : ndarray of shape (n_rows,)
        Confidence in each given label, from 0 to 1; NaN for unlabeled rows.
    p_wrong_ : ndarray of shape (n_rows,)
        Probability that the given label is wrong; NaN for unlabeled rows.
    is_label_issue_ : ndarray of bool of shape (n_rows,)
        The labels that are flagged as wrong.
    label_issues_ : DataFrame
        One line per row of ``X`` with cleanlab's columns ``is_label_issue``, ``label_quality``,
        ``given_label``, ``predicted_label``, then ``p_wrong``, ``label_confidence``, ``probability`` (of
        the predicted label), ``status``.
    status_ : ndarray of str of shape (n_rows,)
        "labeled", "reviewed" (weight inf), "ignored" (weight 0), "unlabeled", or "no evidence": an
        unlabeled row in a part of the graph without any label, or with equal evidence for both classes.
    noise_rates_ : ndarray of shape (n_classes,)
        Estimated share of rows of each class that carry a wrong label.
    tradeoff_, prior_strength_ : float or ndarray of shape (n_classes,)
        What the folds chose; for more than two classes one number per class.
    feature_importances_ : ndarray of shape (n_features,)
        Importances used in the distance, with sum 1.
    column_scale_ : ColumnScale or None
        How the columns were scaled, with the borders at which values were clipped.
    graph_ : SimilarityGraph
        The graph; its node ``p`` is row ``row_order_[p]`` of ``X``.
    row_order_ : ndarray of shape (n_rows,)
        The order, by content, in which the rows were worked on.
    forest_ : Forest or None
        The forest behind importances and prior; its ``probability`` is in the order of ``row_order_``.
    timings_ : dict of str to float
        Seconds per stage.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    ``predict`` does not solve a new cut. A new row looks up its nearest rows of the table, and the sides
    these are on, with the forest's opinion, give its probability by the same formula that gave the rows of
    the table theirs. So for rows of the table ``predict`` and ``transduction_`` agree nearly everywhere; they
    can differ because ``predict`` does not know that the row itself was in the table.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from labelcut import ConfidenceHNC
    >>> X, y = make_moons(300, noise=0.1, random_state=0)
    >>> y[200:] = -1                                    # unlabeled
    >>> wrong = [3, 14, 15, 92]
    >>> y[wrong] = 1 - y[wrong]                         # mislabeled
    >>> clf = ConfidenceHNC().fit(X, y)
    >>> [int(i) for i in clf.is_label_issue_.nonzero()[0]]
    [3, 14, 15, 92]
    >>> clf.predict([[0.0, 1.0], [1.0, -0.5]])
    array([0, 1])
    """

    # scikit-learn takes a parameter of this name in the signature of fit for a number of copies of a row, and
    # meta-estimators such as bagging pass one. Ours is trust in a label, so it is only requested by name.
    __metadata_request__fit: ClassVar[dict[str, None]] = {"sample_weight": None}

    _holds_labels: ClassVar[bool] = False

    def __init__(
        self,
        preset: str = "default",
        *,
        n_neighbors: int | None = None,
        bandwidth: float | None = None,
        kernel: str | None = None,
        one_sided: str | None = None,
        neighbor_search: str = "auto",
        scale: str | None = None,
        importances: Any = None,
        forest_tuning: str | None = None,
        leaf_sizes: Any = None,
        n_trees: int | None = None,
        confidence_symmetric: bool | None = None,
        confidence_counts: str | None = None,
        confidence_scale: str | None = None,
        confidence_strength: float = 1.0,
        confidence_in_folds: str = "once",
        breakpoints: str | None = None,
        prior_strengths: Any = None,
        tradeoff: str | float | None = None,
        n_folds: int = 5,
        enough_hidden: float | None = None,
        decision: str | None = None,
        flags: str | None = None,
        noise: str | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.preset = preset
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.one_sided = one_sided
        self.neighbor_search = neighbor_search
        self.scale = scale
        self.importances = importances
        self.forest_tuning = forest_tuning
        self.leaf_sizes = leaf_sizes
        self.n_trees = n_trees
        self.confidence_symmetric = confidence_symmetric
        self.confidence_counts = confidence_counts
        self.confidence_scale = confidence_scale
        self.confidence_strength = confidence_strength
        self.confidence_in_folds = confidence_in_folds
        self.breakpoints = breakpoints
        self.prior_strengths = prior_strengths
        self.tradeoff = tradeoff
        self.n_folds = n_folds
        self.enough_hidden = enough_hidden
        self.decision = decision
        self.flags = flags
        self.noise = noise
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what to expect."""
        tags = super().__sklearn_tags__()
        # The text of the paper, taken literally, collapses to one class on many tables.
        tags.classifier_tags.poor_score = self.preset == "literal"
        return tags

    def fit(self, X: Any, y: Any, **metadata: Any) -> Self:
        """Learn from labeled and unlabeled rows together.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Numbers without missing values.
        y : array-like of shape (n_rows,)
            Classes of any kind; -1, None or NaN for unlabeled rows. A y of only -1 and 1 has two classes
            and no unlabeled rows.
        sample_weight : array-like of shape (n_rows,), optional
            Trust in each label, by keyword only: 0 ignores a label, 1 is usual, ``inf`` never flips it. It
            is not a number of copies of the row.

        Returns
        -------
        self
        """
        unknown = set(metadata) - {"sample_weight"}
        if unknown:
            raise TypeError(f"fit() got {_listed(unknown)}; beside X and y it takes only sample_weight.")
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        row_names = getattr(X, "index", None)
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        given = read_labels(y, len(X))
        _check_classes(given)
        labels, trust = check_trust(metadata.get("sample_weight"), given)
        is_reviewed = np.isinf(trust)
        trust = np.full(len(X), np.inf) if self._holds_labels else hold_only_labels(labels, trust)
        plan = make_plan(self.get_params(deep=False), labels, X.shape[1])

        if plan.scale == "robust":  # before the order, which otherwise would depend on how absurd a value is
            X = np.clip(X, *column_borders(X))
        order = canonical_order(X, labels.codes, trust)
        X, codes, trust = X[order], labels.codes[order], trust[order]
        self.classes_ = labels.classes
        self.row_order_ = order
        self._row_names = row_names
        self._place = np.empty(len(X), dtype=np.intp)  # of each row's stand-in among the nodes of the graph
        self._place[order] = stand_ins(X, codes, trust)
        self._plan = plan
        clock = StageClock(is_talking=bool(self.verbose))
        self._build_graph(X, codes, clock)
        self._separate(codes, trust, clock)
        self._conclude(codes, trust, clock)
        self._given_code = given.codes
        self.status_ = self._status(given, labels, is_reviewed)
        self.timings_ = clock.seconds
        return self

    def _build_graph(self, X: Floats, codes: Ints, clock: StageClock) -> None:
        """Scale the columns, grow the forest, join the rows."""
        plan = self._plan
        self.column_scale_ = None
        if plan.scale != "none":
            X, self.column_scale_ = scale_columns(X, kind=plan.scale)
        self.forest_ = None
        importances = plan.importances
        if plan.needs_forest:
            with clock.stage("forest"):
                self.forest_ = fit_forest(
                    X,
                    codes,
                    tuning=plan.forest_tuning,
                    leaf_sizes=plan.leaf_sizes,
                    n_trees=plan.n_trees,
                    random_state=self.random_state,
                    n_jobs=self.n_jobs,
                )
            if importances is None:
                importances = self.forest_.importances
        assert importances is not None
        self.feature_importances_ = importances
        with clock.stage("graph"):
            self._index = build_index(weight_columns(X, importances), method=plan.neighbor_search)
            self.graph_ = similarity_graph(
                self._index,
                n_neighbors=plan.n_neighbors,
                bandwidth=plan.bandwidth,
                kernel=plan.kernel,
                one_sided=plan.one_sided,
                n_jobs=self.n_jobs,
            )

    def _separate(self, codes: Ints, trust: Floats, clock: StageClock) -> None:
        """Cut each class off from the rest; of two classes only the second."""
        smallest = int(np.bincount(codes[codes != UNLABELED]).min())
        n_folds = min(self._plan.n_folds, smallest)
        folds: list[Mask] = []
        if n_folds >= 2:
            fold = deal_folds(codes, n_folds, self.random_state)
            folds = [fold == k for k in range(min(n_folds, self._plan.n_folds_run))]
        self._separations: list[Separation] = []
        for c in self._cut_classes:
            sign = np.where(codes == UNLABELED, 0, np.where(codes == c, 1, -1))
            probability = None if self.forest_ is None else self.forest_.probability[:, c]
            self._separations.append(
                separate(
                    self.graph_, sign, trust, probability, folds, self._plan.settings, clock, self.n_jobs
                )
            )
        warn_if_degenerate(self._separations)

    @property
    def _cut_classes(self) -> Sequence[int]:
        """The class numbers that are cut off from the rest."""
        return [1] if self.classes_.size == 2 else range(self.classes_.size)

    def _conclude(self, codes: Ints, trust: Floats, clock: StageClock) -> None:
        """Store what was found, in the order of X."""
        self._node_code = codes
        with clock.stage("probabilities"):
            found = conclude(
                self._separations,
                self.graph_,
                codes,
                trust,
                self._guess(None if self.forest_ is None else self.forest_.probability, codes.size),
                decision=self._plan.settings.decision,
                flags=self._plan.flags,
            )
        place = self._place
        self._node_class, self._node_has_evidence = found.predicted, found.has_evidence
        self.transduction_ = self.classes_[found.predicted[place]]
        self.label_distributions_ = found.distribution[place]
        self.label_confidence_ = found.confidence[place]
        self.p_wrong_ = found.p_wrong[place]
        self.is_label_issue_ = found.is_issue[place]
        chosen = [(found.choice.tradeoff, found.choice.strength) for found in self._separations]
        if self.classes_.size == 2:
            self.tradeoff_, self.prior_strength_ = chosen[0]
            rates = self._separations[0].rates
            self.noise_rates_ = np.array([rates.negative, rates.positive])
        else:
            self.tradeoff_, self.prior_strength_ = np.array(chosen).T
            self.noise_rates_ = np.array([found.rates.positive for found in self._separations])

    def _guess(self, opinion: Floats | None, n_rows: int) -> Ints:
        """Return the class of rows without evidence: the forest's, or without a forest the most frequent."""
        if opinion is not None:
            return np.asarray(opinion.argmax(axis=1))
        return np.full(n_rows, np.bincount(self._node_code[self._node_code != UNLABELED]).argmax())

    def _status(self, given: Labels, used: Labels, is_reviewed: Mask) -> NDArray[np.str_]:
        """Return what is known about each row, in a word or two."""
        labeled = np.where(is_reviewed, "reviewed", "labeled")
        unlabeled = np.where(given.is_labeled, "ignored", "unlabeled")
        status = np.where(used.is_labeled, labeled, unlabeled)
        return np.asarray(np.where(self._node_has_evidence[self._place], status, "no evidence"))

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class for new rows, without solving a cut.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
            Columns in the order of ``classes_``. All equal if no labeled part of the graph is near.
        """
        return self._judge(X)[0]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of new rows, without solving a cut.

        Where ``predict_proba`` is equal for all classes, the class is only the forest's guess.
        """
        distribution, guess = self._judge(X)
        is_open = np.ptp(distribution, axis=1) == 0
        return np.asarray(self.classes_[np.where(is_open, guess, distribution.argmax(axis=1))])

    def _judge(self, X: Any) -> tuple[Floats, Ints]:
        """Return the probabilities of new rows, and a guess for those without evidence."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if self.column_scale_ is not None:
            X = self.column_scale_.apply(X)
        opinion = None if self.forest_ is None else self.forest_.predict_proba(X, n_jobs=self.n_jobs)
        plan = self._plan
        near = self._index.of(weight_columns(X, self.feature_importances_), plan.n_neighbors, self.n_jobs)
        weight = kernel_weights(near.distance, plan.kernel, plan.bandwidth, X.shape[1])
        reach = weight * self._node_has_evidence[near.index]
        total = reach.sum(axis=1)
        positive = []
        for c, found in zip(self._cut_classes, self._separations, strict=True):
            side = np.where(found.is_positive_side[near.index], 1.0, -1.0)
            vote = np.divide((reach * side).sum(axis=1), total, out=np.zeros(len(X)), where=total > 0)
            positive.append(found.probability_of(vote, None if opinion is None else opinion[:, c]))
        distribution = class_distribution(positive)
        distribution[total == 0] = 1.0 / self.classes_.size
        return distribution, self._guess(opinion, len(X))

    @property
    def label_issues_(self) -> pd.DataFrame:
        """One line per row of X: is its label wrong, how good is it, what should it be."""
        check_is_fitted(self)
        import pandas as pd

        best = self.label_distributions_.max(axis=1)
        issues = {
            "is_label_issue": self.is_label_issue_,
            "label_quality": 1.0 - self.p_wrong_,
            "given_label": _with_gaps(self.classes_, self._given_code),
            "predicted_label": self.transduction_,
            "p_wrong": self.p_wrong_,
            "label_confidence": self.label_confidence_,
            "probability": best,
            "status": self.status_,
        }
        return pd.DataFrame(issues, index=self._row_names)

    def explain(self, row: int) -> Explanation:
        """Tell why a row of the fitted table got its class.

        Parameters
        ----------
        row : int
            Row number in the ``X`` given to ``fit``.

        Returns
        -------
        Explanation
            Neighbours with labels and weights, the cost of keeping and of flipping, where the row would flip.
        """
        check_is_fitted(self)
        n_rows = self._place.size
        row = operator.index(row)
        if not 0 <= row < n_rows:
            raise IndexError(f"row {row} is not in the table; its {n_rows} rows are numbered from 0.")
        i = int(self._place[row])
        code, predicted = int(self._node_code[i]), int(self._node_class[i])
        asked = predicted if code == UNLABELED else code
        found = self._separations[0 if self.classes_.size == 2 else asked]
        positive, negative, trust = weigh_sides(self.graph_, found, i)
        is_mirrored = self.classes_.size == 2 and asked == 0
        near = slice(self.graph_.weights.indptr[i], self.graph_.weights.indptr[i + 1])
        node, weight = self.graph_.weights.indices[near], self.graph_.weights.data[near]
        by_weight = np.lexsort((node, -weight))
        node, weight = node[by_weight], weight[by_weight]
        return Explanation(
            row=row,
            status=str(self.status_[row]),
            given_label=None if code == UNLABELED else plain(self.classes_[code]),
            predicted_label=plain(self.classes_[predicted]),
            class_in_question=plain(self.classes_[asked]),
            keep=negative if is_mirrored else positive,
            flip=positive if is_mirrored else negative,
            label_confidence=float(self.label_confidence_[row]),
            p_wrong=float(self.p_wrong_[row]),
            joins_at=float(found.join_at[i]),
            tradeoff=found.choice.tradeoff,
            flips_at_trust=trust,
            neighbors=self.row_order_[node],
            weights=weight,
            neighbor_labels=_with_gaps(self.classes_, self._node_code[node]),
            neighbor_predictions=self.classes_[self._node_class[node]],
        )


class HNC(ConfidenceHNC):
    """Hochbaum's Normalized Cut: the same cut with every label held.

    Labels are seeds that never change sides, so no label is flagged; unlabeled rows are classified. It is
    :class:`ConfidenceHNC` with ``sample_weight=inf`` for every label, and the right choice when labels are
    few and certain. The parameters of the confidences have no effect.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from labelcut import HNC
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> hidden = y.copy()
    >>> hidden[20:] = -1
    >>> float((HNC().fit(X, hidden).transduction_ == y).mean()) > 0.95
    True
    """

    _holds_labels: ClassVar[bool] = True


def find_label_issues(X: Any, y: Any, *, sample_weight: Any = None, **parameters: Any) -> pd.DataFrame:
    """Return a data frame that says of each label how likely it is wrong.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Numbers without missing values.
    y : array-like of shape (n_rows,)
        Classes; -1, None or NaN for unlabeled rows.
    sample_weight : array-like of shape (n_rows,), optional
        Trust in each label, from 0 to ``inf``.
    **parameters
        Passed to :class:`ConfidenceHNC`.

    Returns
    -------
    DataFrame
        ``ConfidenceHNC(**parameters).fit(X, y).label_issues_``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelcut import find_label_issues
    >>> X, y = load_iris(return_X_y=True)
    >>> y[7] = 2                                        # was 0
    >>> issues = find_label_issues(X, y)
    >>> print(*issues.loc[7, ["is_label_issue", "given_label", "predicted_label"]])
    True 2 0
    """
    metadata = {} if sample_weight is None else {"sample_weight": sample_weight}
    return ConfidenceHNC(**parameters).fit(X, y, **metadata).label_issues_


def _check_classes(labels: Labels) -> None:
    """Refuse one class, and more classes than can be meant."""
    n_classes = labels.classes.size
    if n_classes == 1:
        raise ValueError(
            f"all {labels.n_labeled} labeled rows are {plain(labels.classes[0])!r}; at least one row of "
            "each class is needed, and at least two classes."
        )
    if n_classes > MAX_CLASSES:
        raise ValueError(
            f"y has {n_classes} classes among {labels.n_labeled} labeled rows; at most {MAX_CLASSES} are "
            "supported, since each is a cut of its own. If y is an identifier or a number, choose another "
            "column; else merge rare classes."
        )


def _with_gaps(classes: NDArray[Any], codes: Ints) -> NDArray[Any]:
    """Return the classes of rows, None for unlabeled ones; an object array only if there are any."""
    if (codes != UNLABELED).all():
        return np.asarray(classes[codes])
    values = classes.astype(object)[codes]
    values[codes == UNLABELED] = None
    return np.asarray(values)


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names))
