"""HNC and Confidence HNC as scikit-learn estimators: scale, forest, graph, cuts, probabilities."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from labelcut.arrays import Floats, Ints
from labelcut.graph import build_index, similarity_graph, similarity_to
from labelcut.hnc.answer import Answer, status_of
from labelcut.hnc.clock import StageClock
from labelcut.hnc.columns import check_importances
from labelcut.hnc.concluding import conclude
from labelcut.hnc.conclusion import Conclusion
from labelcut.hnc.crowd import ask_next, fit_crowd, has_annotators
from labelcut.hnc.cut_alone import CutAlone, cut_alone
from labelcut.hnc.explanation import Explanation, explain_row
from labelcut.hnc.forest import fit_forest
from labelcut.hnc.inputs import FIT_METADATA, check_metadata, read_inputs, read_new
from labelcut.hnc.issues import issue_table
from labelcut.hnc.neighborhood import join_by_distances
from labelcut.hnc.opinion import NoOpinion, Opinion
from labelcut.hnc.own_experts import read_experts, refuse_experts, refuse_known_names
from labelcut.hnc.panel import Panel, ask_panel
from labelcut.hnc.question import pose
from labelcut.hnc.rows import NewRows, Rows, line_up
from labelcut.hnc.settings import EXPERTS, PRESETS, Settings, settings_from
from labelcut.hnc.views import Seen, look_at
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
        "default" asks several experts, the cut among them, and weighs them. "paper" is the
        published method with its gaps filled by what reproduces the published accuracy. "literal" is the
        text word for word, for comparison only. Settings hold every other number of the method:
        ``replace(PAPER, kernel="literal")``. A parameter left at None is as in the preset.
    experts : list of str, classifier or (str, classifier), optional
        Who is asked about every row: any of "forest", "boosting" (two classes, from 1000 labels on), "cut",
        "second_round" and "second_boosting", and your own scikit-learn classifiers. A classifier is cloned
        and asked about rows it has not seen; one in a ``FrozenEstimator`` is only asked. By default all five;
        if none of them is named, the cut is asked beside your own.
    n_neighbors : int, optional
        Neighbours per row. By default 15 below 10000 rows, 10 from there on, and never more than there are.
    bandwidth : float, optional
        Width of the similarity kernel. By default 0.75 below 10000 rows, 0.5 from there on.
    neighbor_search : {"auto", "exact", "approximate"}, optional
        How neighbours are found, see :func:`labelcut.graph.neighbors`. "auto" is exact up to some 100000 rows
        and approximate above; ``graph_.recall`` then says how many of the true neighbours were found.
    scale : {"robust", "standard", "none"}, optional
        Bring columns to mean 0 and standard deviation 1 first. "robust" clips absurd values before that, so
        that one bad row cannot flatten a column: none counts as more than ten times as far from the median
        as usual.
    importances : {"forest", "equal"} or array-like of shape (n_features,), optional
        How much each column counts in the distance between two rows. Where the cut decides alone and there
        are fewer than five labels per class, no forest is asked, and all columns count alike.
    tradeoff : {"crossing", "accuracy"} or float, optional
        How the trade-off is chosen from the folds: where a logistic fit crosses 1/2, or by the best
        accuracy. A number is taken as it is.
    flags : {"likely", "expected_f1", "side"}, optional
        Of the labels that the prediction contradicts, flag those more likely wrong than right, those that
        give the largest expected F1, or all.
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
    is_worth_a_look_ : ndarray of bool of shape (n_rows,)
        Labels that the prediction contradicts and that are not flagged: where classes overlap that is no
        mistake, where they do not it is. They do not count as wrong; ``flags="side"`` flags them, too.
    label_issues_ : DataFrame
        One line per row of ``X`` with cleanlab's columns ``is_label_issue``, ``label_quality``,
        ``given_label``, ``predicted_label``, then ``p_wrong``, ``label_confidence``, ``probability`` (of
        the predicted label), ``status``, ``is_worth_a_look``.
    status_ : ndarray of str of shape (n_rows,)
        "labeled", "reviewed" (weight inf), "ignored" (weight 0), "unlabeled", or "no evidence": an
        unlabeled row in a part of the graph without any label, or with equal evidence for both classes.
    evidence_ : Evidence or None
        How well the columns tell the classes apart, see :class:`~labelcut.hnc.evidence.Evidence`. None if
        that cannot be tested: no forest was asked, or labels are too few (below 48 of two equal classes).
    noise_rates_ : ndarray of shape (n_classes,)
        Estimated share of rows of each class that carry a wrong label.
    expert_weights_, expert_log_loss_ : dict of str to float
        How far each expert was believed, and how well it predicts labels that it has not seen (lower is
        better). Empty where the cut decides alone.
    tradeoff_, prior_strength_ : float or ndarray of shape (n_classes,)
        What the folds chose; for more than two classes one number per class.
    feature_importances_ : ndarray of shape (n_features,)
        Importances used in the distance, with sum 1.
    column_scale_ : ColumnScale or None
        How the columns were scaled, with the borders at which values were clipped; after the columns the
        marks of missing values.
    graph_ : SimilarityGraph
        The graph; its node ``p`` is row ``row_order_[p]`` of ``X``.
    row_order_ : ndarray of shape (n_rows,)
        The order, by content, in which the rows were worked on.
    opinion_ : GroupedForest, Forest or NoOpinion
        Who weighed the columns; its ``probability`` is in the order of ``row_order_``.
    timings_ : dict of str to float
        Seconds per stage.
    consensus_, consensus_probability_ : ndarray of shape (n_rows,)
        With several annotators only: the answer by all labels of the row and the opinion on it, and how
        likely it is right. ``label_issues_`` and all else then speak of the label that was learned from: the
        class that the row's labels alone speak for.
    annotator_quality_ : DataFrame
        With several annotators only: ``n_labels``, ``quality`` (the share of right labels) and its
        ``standard_error``, one line per annotator.
    label_p_wrong_ : ndarray of shape (n_rows, n_annotators)
        With several annotators only: the probability that each label is wrong; NaN where there is none.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    ``predict`` does not solve a new cut. A new row looks up its nearest rows of the table; the sides these
    are on, and what the other experts think of it, give its probability by the same formula that gave the
    rows of the table theirs. So for rows of the table ``predict`` and ``transduction_`` agree nearly
    everywhere; they can differ because ``predict`` does not know that the row itself was in the table.

    If ``evidence_`` is not there, a warning says so, no label is flagged, and noise is undone in the
    probabilities only as far as there may be a signal (``evidence_.signal``); on columns without any they
    stay near the shares of the classes. With fewer than five labels per class no label is flagged either: a
    contrary one tells how little is known. Where the cut decides alone (preset "paper", :class:`HNC`, or no
    two classes with two labels each) evidence is only told.

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
    __metadata_request__fit: ClassVar[dict[str, None]] = dict.fromkeys(FIT_METADATA)

    _holds_labels: ClassVar[bool] = False

    def __init__(
        self,
        preset: str | Settings = "default",
        *,
        experts: Any = None,
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
        self.experts = experts
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
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, **metadata: Any) -> Self:
        """Learn from labeled and unlabeled rows together.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features), or None
            Numbers; NaN where a value is missing: trees see that, neighbours see the median of the column and
            that it stands for a missing value. More than a hundred sparse columns are seen by trees as they
            are, by neighbours in a hundred main directions. With None the embedding stands for X or, without
            one, the opinions: rows are then alike if the same is said about them.
        y : array-like of shape (n_rows,) or (n_rows, n_annotators)
            Classes of any kind; -1, None or NaN for unlabeled rows. A y of only -1 and 1 has two classes
            and no unlabeled rows. With shape (n_rows, n_annotators) each column is an annotator, whose worth
            is estimated with the answers; -1, None or NaN where they gave no label.
        sample_weight : array-like of shape (n_rows,), optional
            Trust in each label, by keyword only: 0 ignores a label, 1 is usual, ``inf`` never flips it. It
            is not a number of copies of the row. With several annotators it has their columns, too, and is 0,
            1, or ``inf`` where the label is known to be right.
        opinions : dict of str to array-like, optional
            Probabilities of every row by models that did not see its label, by keyword only: shape (n_rows,
            n_classes) in the order of the sorted classes, a data frame with the classes as columns, or, of
            two classes, (n_rows,) for the second. ``predict`` then wants those of the new rows, too. With
            X=None the rows are taken for pictures or texts, whose class can be told by who sees them:
            contrary labels then get no benefit of the doubt for overlap; see ``Settings.overlap``.
        embedding : array-like of shape (n_rows, n_dimensions), optional
            Makes the neighbours instead of X, by keyword only: its columns are scaled and count alike. Trees
            see X and, after it, the embedding; your own classifiers see X. ``predict`` then wants that of
            the new rows, too.
        graph : sparse matrix of shape (n_rows, n_rows), optional
            Distances to nearest rows, as of ``KNeighborsTransformer`` or Datalab's ``knn_graph``, by keyword
            only; no self-loops are needed. They make the neighbours, measured in their median. New rows have
            none, so ``predict`` asks all experts but the cut.

        Returns
        -------
        self
        """
        check_metadata(metadata)
        one_of("verbose", self.verbose, (True, False))
        check_n_jobs(self.n_jobs)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if has_annotators(y):
            fit_crowd(self, X, y, metadata)
            return self
        read = read_inputs(self, X, y, metadata, holds_labels=self._holds_labels)
        names, own = (None, {}) if self.experts is None else read_experts(self.experts, EXPERTS)
        refuse_known_names(read.opinions, tuple(own))
        parameters = self.get_params(deep=False) | {"experts": names}
        is_seen = not read.has_X and bool(read.opinions)
        self._settings = settings_from(parameters).fit_to(read.labels, read.trust, is_seen=is_seen)
        rows = line_up(
            read.X,
            read.labels,
            read.trust,
            read.opinions,
            read.embedding,
            read.distances,
            clip=self._settings.scale == "robust",
            has_columns=read.has_X,
        )
        read = replace(read, X=read.X[:0].copy())  # what was checked is a copy of what was given
        clock = StageClock(is_talking=bool(self.verbose))
        way = self._ask_panel if self._settings.experts else self._cut_alone
        self._views, seen = look_at(
            rows, self._settings.scale, has_X=read.has_X, may_narrow=bool(self._settings.experts)
        )
        self.column_scale_ = self._views.scale
        if not own:  # only classifiers of users see the columns as they came
            rows = rows.without_columns
        verdict, found = way(rows, own, seen, clock)
        status = status_of(read.given, read.labels, read.is_reviewed, found.has_evidence[rows.place])
        self._answer = Answer(rows.without_columns, self.graph_, verdict, found, status)
        self._has_X, self._given_code, self._row_names = read.has_X, read.given.codes, read.row_names
        self._tell()
        self.timings_ = clock.seconds
        return self

    def _build_graph(self, rows: Rows, seen: Seen, opinion: Opinion, clock: StageClock) -> None:
        """Weigh the columns; join the rows by them, by the embedding or by the distances that were given."""
        settings = self._settings
        given = None if isinstance(settings.importances, str) else settings.importances
        self.feature_importances_ = check_importances(given, rows.raw.shape[1])
        self.opinion_ = opinion
        if settings.importances == "forest" and opinion.importances is not None:
            self.feature_importances_ = self._views.of_columns(opinion.importances)
        with clock.stage("graph"):
            how = settings.graph(len(seen.columns))
            if rows.distances is not None:
                how["n_neighbors"] = settings.n_neighbors
                self.graph_ = join_by_distances(rows.distances, **how)
                return
            self._index = build_index(
                self._views.near(seen, self.feature_importances_), method=settings.neighbor_search
            )
            self.graph_ = similarity_graph(self._index, **how, n_jobs=self.n_jobs)

    def _ask_panel(
        self, rows: Rows, own: dict[str, Any], seen: Seen, clock: StageClock
    ) -> tuple[Panel, Conclusion]:
        """Grow the forest, which weighs the columns of the graph; then ask everybody."""
        question = pose(rows, seen.trees, self._settings, self.random_state, self.n_jobs)
        forest = question.grow_forest(clock)
        self._build_graph(rows, seen, forest, clock)
        panel = ask_panel(question, self.graph_, forest, own, clock)
        with clock.stage("probabilities"):
            return panel, conclude(question, panel, self.graph_)

    def _cut_alone(
        self, rows: Rows, own: dict[str, Any], seen: Seen, clock: StageClock
    ) -> tuple[CutAlone, Conclusion]:
        """Cut each class off from the rest, as in the paper; a forest weighs the columns of the graph."""
        refuse_experts([*own, *rows.opinions])
        seeded: dict[str, Any] = {"random_state": self.random_state, "n_jobs": self.n_jobs}
        opinion: Opinion = NoOpinion.on(rows.codes)
        if self._settings.needs_forest:
            with clock.stage("forest"):
                opinion = fit_forest(seen.trees, rows.codes, **self._settings.forest, **seeded)
        self._build_graph(rows, seen, opinion, clock)
        return cut_alone(rows, self.graph_, opinion, self._settings, clock, **seeded)

    def _tell(self) -> None:
        """Store what was found, in the order of X."""
        answer, verdict = self._answer, self._answer.verdict
        place = answer.rows.place
        self.classes_ = answer.rows.classes
        self.row_order_ = answer.rows.order
        self.transduction_ = self.classes_[answer.found.predicted[place]]
        self.label_distributions_ = answer.found.distribution[place]
        self.label_confidence_ = answer.found.confidence[place]
        self.p_wrong_ = answer.found.p_wrong[place]
        self.is_label_issue_ = answer.found.is_issue[place]
        self.is_worth_a_look_ = answer.found.is_worth_a_look[place]
        self.status_ = answer.status
        choices = [cut.choice for cut in verdict.cuts]
        self.tradeoff_ = _one_or_all([choice.tradeoff for choice in choices])
        self.prior_strength_ = _one_or_all([choice.strength for choice in choices])
        self.noise_rates_ = verdict.noise_rates
        self.evidence_ = verdict.evidence
        self.expert_weights_, self.expert_log_loss_ = verdict.weights, verdict.log_loss

    def predict_proba(self, X: Any, opinions: Any = None, embedding: Any = None) -> Floats:
        """Return the probability of each class for new rows, without solving a cut.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), or None
            None if ``fit`` had no X.
        opinions : dict of str to array-like, optional
            Probabilities of the new rows by everybody whose opinions were given in ``fit``.
        embedding : array-like of shape (n_queries, n_dimensions), optional
            Of the new rows, if ``fit`` was given one.

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
            Columns in the order of ``classes_``. All equal if no labeled part of the graph is near. After
            ``fit(..., graph=...)`` new rows have no neighbours, and everybody but the cut is asked.
        """
        return self._judge(X, opinions, embedding)[0]

    def predict(self, X: Any, opinions: Any = None, embedding: Any = None) -> NDArray[Any]:
        """Return the most probable class of new rows, without solving a cut.

        Where ``predict_proba`` is equal for all classes, the class is only the forest's guess.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), or None
        opinions, embedding
            As in ``predict_proba``.

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        distribution, guess = self._judge(X, opinions, embedding)
        is_open = np.ptp(distribution, axis=1) == 0
        return np.asarray(self.classes_[np.where(is_open, guess, distribution.argmax(axis=1))])

    def _judge(self, X: Any, opinions: Any, embedding: Any) -> tuple[Floats, Ints]:
        """Return the probabilities of new rows, and a guess for those without evidence."""
        check_is_fitted(self)
        rows = self._answer.rows
        new = read_new(self, rows, self._has_X, X, opinions, embedding)
        seen, weights = self._views.of(new.X, new.embedding), None
        if rows.distances is None:
            near = self._views.near(seen, self.feature_importances_)
            weights = similarity_to(self._index, near, self.graph_, n_jobs=self.n_jobs)
            weights.data *= self._answer.found.has_evidence[weights.indices]
        return self._answer.verdict.judge(NewRows(seen.trees, new.X, weights, new.opinions), self.n_jobs)

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

    def ask_next(self, n: int) -> pd.DataFrame:
        """Return the rows for which one more label would tell most; after a fit to several annotators.

        Parameters
        ----------
        n : int
            How many rows.

        Returns
        -------
        DataFrame
            See :func:`labelcut.hnc.crowd.ask_next`.
        """
        check_is_fitted(self, "consensus_")
        return ask_next(self._crowd.crowd, self._crowd.found, n)


def _one_or_all(values: list[float]) -> Any:
    """Return the number of the only cut, or one per class."""
    return values[0] if len(values) == 1 else np.array(values)
