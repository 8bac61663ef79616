"""HNC and Confidence HNC as scikit-learn estimators: scale, forest, graph, cuts, probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from labelcut.arrays import Floats, Ints
from labelcut.graph import build_index, similarity_graph, similarity_to
from labelcut.hnc.answer import Answer, status_of
from labelcut.hnc.clock import StageClock
from labelcut.hnc.columns import check_importances, column_borders, scale_columns, weight_columns
from labelcut.hnc.explanation import Explanation, explain_row
from labelcut.hnc.folds import hidden_folds
from labelcut.hnc.forest import fit_forest
from labelcut.hnc.gate import look_for_evidence
from labelcut.hnc.issues import issue_table
from labelcut.hnc.labels import check_classes, check_trust, hold_only_labels, read_labels
from labelcut.hnc.one_vs_rest import OneVsRest, separate_classes
from labelcut.hnc.opinion import NoOpinion, Opinion
from labelcut.hnc.order import canonical_order, stand_ins
from labelcut.hnc.settings import PRESETS, Settings, settings_from
from labelcut.parameters import one_of
from labelcut.threads import check_n_jobs

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ConfidenceHNC"]


class ConfidenceHNC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify rows and find wrong labels by minimum cuts on a similarity graph.

    Rows are joined to their nearest rows. Every label pulls its row to one side, as strongly as it can be
    trusted; the cheapest cut of the graph then separates the classes, and may put a row on the other side
    than its label. Labeled, mislabeled and unlabeled rows are taken in one ``fit``, in any order.

    Parameters
    ----------
    preset : {"default", "paper", "literal"} or Settings, default="default"
        "default" adds a forest prior to the cut and gives calibrated probabilities. "paper" is the
        published method with its gaps filled by what reproduces the published accuracy. "literal" is the
        text word for word, for comparison only. Settings hold every other number of the method:
        ``replace(PAPER, kernel="literal")``. A parameter left at None is as in the preset.
    n_neighbors : int, optional
        Neighbours per row. By default 15 below 10000 rows, 10 from there on, and never more than there are.
    bandwidth : float, optional
        Width of the similarity kernel. By default 0.75 below 10000 rows, 0.5 from there on.
    neighbor_search : {"auto", "exact", "approximate"}, optional
        How neighbours are found, see :func:`labelcut.graph.neighbors`. "auto" is exact up to some 100000 rows
        and approximate above; ``graph_.recall`` then says how many of the true neighbours were found.
    scale : {"robust", "standard", "none"}, optional
        Bring columns to mean 0 and standard deviation 1 first. "robust" clips absurd values before that, so
        that one bad row cannot flatten a column; see :func:`labelcut.hnc.columns.column_borders`.
    importances : {"forest", "equal"} or array-like of shape (n_features,), optional
        How much each column counts in the distance between two rows. With fewer than five labeled rows per
        class no forest is asked, and all columns count alike.
    tradeoff : {"crossing", "accuracy"} or float, optional
        How the trade-off is chosen from the folds: where a logistic fit crosses 1/2, or by the best
        accuracy. A number is taken as it is.
    flags : {"expected_f1", "side"}, optional
        Flag the labels that give the largest expected F1, or those that the prediction contradicts.
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
    evidence_ : Evidence or None
        How well the columns tell the classes apart, see :class:`~labelcut.hnc.evidence.Evidence`. None if
        that cannot be tested: no forest was asked, or labels are too few (below 48 of two equal classes).
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
    opinion_ : Forest or NoOpinion
        Who was asked about every row; its ``probability`` is in the order of ``row_order_``.
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

    If ``evidence_`` is not there, a warning says so, no label is flagged, and probabilities are drawn to the
    shares of the classes (:mod:`labelcut.hnc.gate`). ``Settings.evidence`` turns that off.

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
        preset: str | Settings = "default",
        *,
        n_neighbors: int | None = None,
        bandwidth: float | None = None,
        neighbor_search: str | None = None,
        scale: str | None = None,
        importances: Any = None,
        tradeoff: str | float | None = None,
        flags: str | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.preset = preset
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth
        self.neighbor_search = neighbor_search
        self.scale = scale
        self.importances = importances
        self.tradeoff = tradeoff
        self.flags = flags
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what to expect."""
        tags = super().__sklearn_tags__()
        # Labels that weigh as little as the text of the paper says give way to one class on many tables.
        settings = PRESETS.get(self.preset) if isinstance(self.preset, str) else self.preset
        tags.classifier_tags.poor_score = getattr(settings, "confidence_scale", None) == "mean"
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
            raise TypeError(
                f"fit() got {', '.join(sorted(unknown))}; beside X and y it takes only sample_weight."
            )
        one_of("verbose", self.verbose, (True, False))
        check_n_jobs(self.n_jobs)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        row_names = getattr(X, "index", None)
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        given = read_labels(y, len(X))
        check_classes(given)
        labels, trust = check_trust(metadata.get("sample_weight"), given)
        is_reviewed = np.isinf(trust)
        trust = np.full(len(X), np.inf) if self._holds_labels else hold_only_labels(labels, trust)
        self._settings = settings_from(self.get_params(deep=False)).fit_to(labels)

        if self._settings.scale == "robust":  # before the order, or that would hang on how absurd a value is
            X = np.clip(X, *column_borders(X))
        order = canonical_order(X, labels.codes, trust)
        X, codes, trust = X[order], labels.codes[order], trust[order]
        place = np.empty(len(X), dtype=np.intp)  # of each row's stand-in among the nodes of the graph
        place[order] = stand_ins(X, codes, trust)
        clock = StageClock(is_talking=bool(self.verbose))
        self._build_graph(X, codes, clock)
        cuts = self._separate(codes, trust, clock)
        with clock.stage("probabilities"):
            guess = self.opinion_.probability.argmax(axis=1)
            self._gate = look_for_evidence(self.opinion_, codes, trust, self._settings)
            found = cuts.conclude(self.graph_, codes, trust, guess, self._settings)
            found = self._gate.conclusion(found, codes, trust, guess)
        if self._gate.is_open:  # a cut of columns that know nothing is degenerate, whatever its weights
            cuts.warn_if_degenerate()
        status = status_of(given, labels, is_reviewed, found.has_evidence[place])
        self._answer = Answer(labels.classes, codes, order, place, self.graph_, cuts, found, status)
        self._given_code, self._row_names = given.codes, row_names
        self._tell()
        self.timings_ = clock.seconds
        return self

    def _build_graph(self, X: Floats, codes: Ints, clock: StageClock) -> None:
        """Scale the columns, ask the forest, join the rows."""
        settings = self._settings
        given = None if isinstance(settings.importances, str) else settings.importances
        importances = check_importances(given, X.shape[1])
        self.column_scale_ = None
        if settings.scale != "none":
            X, self.column_scale_ = scale_columns(X, kind=settings.scale)
        self.opinion_ = self._form_opinion(X, codes, clock)
        if settings.importances == "forest" and self.opinion_.importances is not None:
            importances = self.opinion_.importances
        self.feature_importances_ = importances
        with clock.stage("graph"):
            weighted = weight_columns(X, self.feature_importances_)
            self._index = build_index(weighted, method=settings.neighbor_search)
            self.graph_ = similarity_graph(self._index, **settings.graph(len(X)), n_jobs=self.n_jobs)

    def _form_opinion(self, X: Floats, codes: Ints, clock: StageClock) -> Opinion:
        """Return what somebody who saw no row's own label thinks of every row."""
        if not self._settings.needs_forest:
            return NoOpinion.on(codes)
        with clock.stage("forest"):
            return fit_forest(
                X, codes, **self._settings.forest, random_state=self.random_state, n_jobs=self.n_jobs
            )

    def _separate(self, codes: Ints, trust: Floats, clock: StageClock) -> OneVsRest:
        """Deal the folds and cut each class off from the rest."""
        folds = hidden_folds(codes, self._settings, self.random_state)
        given = (self.graph_, codes, trust, self.opinion_.probability, folds, self._settings)
        return separate_classes(*given, clock, self.n_jobs)

    def _tell(self) -> None:
        """Store what was found, in the order of X."""
        answer, place = self._answer, self._answer.place
        self.classes_ = answer.classes
        self.row_order_ = answer.order
        self.transduction_ = self.classes_[answer.found.predicted[place]]
        self.label_distributions_ = answer.found.distribution[place]
        self.label_confidence_ = answer.found.confidence[place]
        self.p_wrong_ = answer.found.p_wrong[place]
        self.is_label_issue_ = answer.found.is_issue[place]
        self.status_ = answer.status
        self.tradeoff_, self.prior_strength_ = answer.cuts.tradeoff, answer.cuts.prior_strength
        self.noise_rates_ = self._gate.noise_rates(answer.cuts.noise_rates)
        self.evidence_ = self._gate.evidence

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
        opinion = self.opinion_.of(X, n_jobs=self.n_jobs)
        weighted = weight_columns(X, self.feature_importances_)
        weights = similarity_to(self._index, weighted, self.graph_, n_jobs=self.n_jobs)
        weights.data *= self._answer.found.has_evidence[weights.indices]
        distribution = self._gate.distribution(self._answer.cuts.judge(weights, opinion))
        return distribution, np.asarray(opinion.argmax(axis=1))

    @property
    def label_issues_(self) -> pd.DataFrame:
        """One line per row of X: is its label wrong, how good is it, what should it be."""
        check_is_fitted(self)
        return issue_table(self._answer, self._given_code, self._row_names)

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
        return explain_row(self._answer, row)
