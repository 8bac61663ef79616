import pickle
from dataclasses import asdict, replace

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification, make_moons
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelcut import DEFAULT, HNC, LITERAL, PAPER, ConfidenceHNC, find_label_issues
from labelcut.hnc.settings import settings_of
from labelcut.model_selection import PartlyLabeledKFold

PRESETS = ("default", "paper", "literal")


def small(preset="default", random_state=0, n_jobs=None, verbose=False, **choices):
    """An estimator with few trees, for speed."""
    settings = settings_of(preset, {"n_trees": 15} | choices)
    return ConfidenceHNC(settings, random_state=random_state, n_jobs=n_jobs, verbose=verbose)


def moons(n=240, share_wrong=0.1, share_unlabeled=0.3, seed=0):
    """Two half circles, some labels flipped, some hidden: X, given labels, true ones, which are wrong."""
    X, truth = make_moons(n, noise=0.08, random_state=seed)
    rng = np.random.default_rng(seed)
    given = truth.copy()
    is_wrong = rng.random(n) < share_wrong
    given[is_wrong] = 1 - given[is_wrong]
    is_hidden = rng.random(n) < share_unlabeled
    given[is_hidden] = -1
    return X, given, truth, is_wrong & ~is_hidden


# -- what comes out --------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_hidden_classes_and_wrong_labels_are_found(preset):
    X, given, truth, is_wrong = moons()
    clf = small(preset).fit(X, given)
    assert np.mean(clf.transduction_ == truth) > 0.97
    assert np.mean(clf.is_label_issue_ == is_wrong) > 0.97
    assert np.all(clf.p_wrong_[is_wrong].mean() > 10 * clf.p_wrong_[~is_wrong & (given != -1)].mean())


def test_attributes_have_a_value_where_they_should():
    X, given, *_ = moons()
    clf = small().fit(X, given)
    is_labeled = given != -1
    assert np.array_equal(np.isnan(clf.label_confidence_), ~is_labeled)
    assert np.array_equal(np.isnan(clf.p_wrong_), ~is_labeled)
    assert not clf.is_label_issue_[~is_labeled].any()
    assert clf.label_distributions_.sum(axis=1) == pytest.approx(1.0)
    assert set(clf.status_[is_labeled]) == {"labeled"}
    assert set(clf.status_[~is_labeled]) == {"unlabeled"}
    assert clf.noise_rates_.shape == (2,)
    assert clf.feature_importances_.sum() == pytest.approx(1.0)
    assert list(clf.timings_) == ["forest", "graph", "cut", "second round", "probabilities"]
    stages = ["forest", "graph", "confidence cuts", "fold cuts", "final cut", "probabilities"]
    assert list(small("paper").fit(X, given).timings_) == stages


def test_the_prediction_is_the_more_probable_class():
    X, given, *_ = moons()
    clf = small().fit(X, given)
    assert np.array_equal(clf.transduction_, clf.classes_[clf.label_distributions_.argmax(axis=1)])


def test_with_the_paper_the_prediction_is_the_side_of_the_cut():
    X, given, *_ = moons()
    clf = small("paper").fit(X, given)
    found = clf._answer.verdict.cuts[0]
    assert np.array_equal(
        clf.transduction_, (found.join_at < clf.tradeoff_)[clf._answer.rows.place].astype(int)
    )
    assert clf.tradeoff_ == pytest.approx(round(clf.tradeoff_ * 500) / 500)
    is_contrary = (given != -1) & (clf.transduction_ != given)
    assert np.array_equal(clf.is_label_issue_, is_contrary)


def test_new_rows_are_judged_without_refitting():
    X, given, truth, _ = moons(400)
    clf = small().fit(X[:300], given[:300])
    assert np.mean(clf.predict(X[300:]) == truth[300:]) > 0.95
    proba = clf.predict_proba(X[300:])
    assert proba.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(clf.predict(X[300:]), proba.argmax(axis=1))


@pytest.mark.parametrize("n_classes", [2, 9])
def test_a_new_row_gets_the_same_digits_alone_as_among_others(n_classes):
    X, y = make_classification(
        1800, 8, n_informative=6, n_classes=n_classes, n_clusters_per_class=1, random_state=0
    )
    y[::5] = (y[::5] + 1) % n_classes
    clf = ConfidenceHNC(n_jobs=1, random_state=0).fit(X[:1500], y[:1500])
    together = clf.predict_proba(X[1500:])
    for i in range(0, 300, 7):
        assert clf.predict_proba(X[[1500 + i]]).tobytes() == together[[i]].tobytes(), f"row {i}"


def test_new_rows_and_rows_of_the_table_nearly_agree():
    X, given, *_ = moons()
    clf = small().fit(X, given)
    assert np.mean(clf.predict(X) == clf.transduction_) > 0.98
    assert np.abs(clf.predict_proba(X) - clf.label_distributions_).mean() < 0.05


def test_label_issues_is_a_table_with_cleanlabs_columns_first():
    X, given, *_ = moons()
    frame = pd.DataFrame(X, columns=["a", "b"], index=np.arange(len(X)) + 1000)
    issues = small().fit(frame, given).label_issues_
    assert issues.columns.tolist() == [
        "is_label_issue", "label_quality", "given_label", "predicted_label",
        "p_wrong", "label_confidence", "probability", "status", "is_worth_a_look",
    ]  # fmt: skip
    assert issues.index.tolist() == frame.index.tolist()
    assert issues["given_label"].isna().tolist() == (given == -1).tolist()
    assert issues["label_quality"].dropna().between(0, 1).all()


def test_find_label_issues_is_the_table_of_a_fit():
    X, given, *_ = moons()
    table = find_label_issues(X, given, preset=replace(DEFAULT, n_trees=15))
    pd.testing.assert_frame_equal(table, small().fit(X, given).label_issues_)


def test_text_labels_come_back_as_text():
    X, given, truth, _ = moons()
    names = np.array(["moon", "sun"], dtype=object)
    y = np.where(given == -1, None, names[np.maximum(given, 0)])
    clf = small().fit(X, y)
    assert clf.classes_.tolist() == ["moon", "sun"]
    assert np.mean(clf.transduction_ == names[truth]) > 0.95
    assert set(clf.predict(X[:20])) <= {"moon", "sun"}


def test_clean_labels_raise_no_flags():
    X, y = make_blobs(200, centers=[[-5, 0], [5, 0]], random_state=0)
    clf = small().fit(X, y)
    assert not clf.is_label_issue_.any()
    assert clf.noise_rates_.max() < 0.01


def test_one_sided_noise_is_recognised():
    X, truth = make_blobs(1200, centers=[[-2, 0], [2, 0]], random_state=0)
    y = truth.copy()
    y[(truth == 1) & (np.random.default_rng(0).random(1200) < 0.3)] = 0
    clf = small().fit(X, y)
    assert clf.noise_rates_ == pytest.approx([0.0, 0.3], abs=0.07)
    assert np.mean(clf.transduction_ == truth) > 0.97


# -- trust -----------------------------------------------------------------------------------------


def test_a_reviewed_label_is_never_flipped_and_teaches_its_neighbors():
    X, given, truth, is_wrong = moons()
    row = int(np.flatnonzero(is_wrong)[0])
    weight = np.ones(len(X))
    assert small().fit(X, given).is_label_issue_[row]
    weight[row] = np.inf
    clf = small().fit(X, given, sample_weight=weight)
    assert clf.transduction_[row] == given[row]
    assert not clf.is_label_issue_[row]
    assert clf.p_wrong_[row] == 0.0
    assert clf.status_[row] == "reviewed"
    assert clf.label_distributions_[row, given[row]] == 1.0


def test_weight_zero_is_the_same_as_no_label():
    X, given, *_ = moons()
    rows = np.flatnonzero(given != -1)[:20]
    weight = np.ones(len(X))
    weight[rows] = 0.0
    hidden = given.copy()
    hidden[rows] = -1
    weighted, plain = small().fit(X, given, sample_weight=weight), small().fit(X, hidden)
    assert np.mean(weighted.transduction_ == plain.transduction_) > 0.99
    assert (weighted.status_[rows] == "ignored").all()
    assert np.isnan(weighted.p_wrong_[rows]).all()
    assert weighted.label_issues_["given_label"][rows[0]] == given[rows[0]]


def test_hnc_is_confidence_hnc_with_every_label_held():
    X, given, *_ = moons()
    hnc = HNC(replace(DEFAULT, n_trees=15)).fit(X, given)
    held = small().fit(X, given, sample_weight=np.full(len(X), np.inf))
    assert np.array_equal(hnc.transduction_, held.transduction_)
    assert np.array_equal(hnc.label_distributions_, held.label_distributions_)
    assert not hnc.is_label_issue_.any()
    assert np.array_equal(hnc.transduction_[given != -1], given[given != -1])


def test_more_trust_flips_fewer_labels():
    X, given, *_ = moons(share_wrong=0.25)
    flips = [
        small("paper", confidence_strength=s).fit(X, given).is_label_issue_.sum()
        for s in (0.5, 1.0, 4.0, 1e6)
    ]
    assert flips == sorted(flips, reverse=True)
    assert flips[-1] == 0


# -- no evidence and degenerate cuts ---------------------------------------------------------------


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_an_island_without_labels_has_no_evidence(preset):
    X, given, *_ = moons(share_unlabeled=0.1)
    island = np.random.default_rng(0).normal(size=(30, 2)) * 0.01 + 1e4
    X, y = np.vstack([X, island]), np.r_[given, np.full(30, -1)]
    with pytest.warns(UserWarning, match=r"no label reaches 30 of the \d+ unlabeled rows.*'no evidence'"):
        clf = small(preset, scale="none").fit(X, y)
    assert (clf.status_[-30:] == "no evidence").all()
    assert (clf.status_[:-30] != "no evidence").all()
    assert (clf.label_distributions_[-30:] == 0.5).all()
    assert (clf.predict_proba(island) == 0.5).all()


def test_tied_evidence_is_no_evidence():
    # The middle row has one neighbour of each class at the same distance.
    X = np.array([[-1.0], [0.0], [1.0]])
    with pytest.warns(UserWarning, match="no label reaches 1 of the 1 unlabeled rows"):
        clf = HNC("paper", importances="equal", n_neighbors=2, tradeoff=0.0).fit(X, [0, -1, 1])
    assert clf.status_.tolist() == ["labeled", "no evidence", "labeled"]
    assert clf.label_distributions_[1].tolist() == [0.5, 0.5]


def test_a_degenerate_cut_is_told():
    X, given, *_ = moons(400, share_unlabeled=0.5)
    with pytest.warns(
        UserWarning, match=r"degenerate cut: 100.0% of the \d+ unlabeled rows.*confidence_strength"
    ):
        small("paper", tradeoff=0.99).fit(X, given)


# -- explanation -----------------------------------------------------------------------------------


def test_an_explanation_adds_up():
    X, given, _, is_wrong = moons()
    clf = small().fit(X, given)
    row = int(np.flatnonzero(is_wrong & clf.is_label_issue_)[0])
    why = clf.explain(row)
    assert why.given_label == given[row] == why.class_in_question
    assert why.predicted_label == clf.transduction_[row]
    assert why.keep.total > why.flip.total  # flipping is cheaper
    assert why.keep.label == 0 < why.flip.label
    assert why.flips_at_trust > 1
    assert (np.diff(why.weights) <= 0).all()
    assert why.keep.neighbors + why.flip.neighbors == pytest.approx(why.weights.sum())
    assert row not in why.neighbors
    assert why.neighbor_labels.tolist() == [None if given[j] == -1 else given[j] for j in why.neighbors]
    assert len(why.to_frame()) == why.neighbors.size
    assert str(why).startswith(f"row {row}: given {given[row]}, predicted {1 - given[row]}\n")


def test_raising_the_trust_above_the_told_value_keeps_the_label():
    X, given, _, is_wrong = moons()
    clf = small("paper").fit(X, given)
    row = int(np.flatnonzero(is_wrong & clf.is_label_issue_)[0])
    needed = clf.explain(row).flips_at_trust
    weight = np.ones(len(X))
    weight[row] = 2 * needed
    assert (
        small("paper", tradeoff=clf.tradeoff_).fit(X, given, sample_weight=weight).transduction_[row]
        == given[row]
    )


@pytest.mark.parametrize("weight", [0.25, 2.0, np.inf])
def test_the_trust_that_a_label_needs_does_not_depend_on_the_trust_it_has(weight):
    X, given, _, is_wrong = moons()
    clf = small("paper").fit(X, given)
    row = int(np.flatnonzero(is_wrong & clf.is_label_issue_)[0])
    trust = np.ones(len(X))
    trust[row] = weight
    again = small("paper", tradeoff=clf.tradeoff_).fit(X, given, sample_weight=trust)
    others = np.arange(len(X)) != row
    assert (again.transduction_ == clf.transduction_)[others].all()  # the same cut around the row
    assert 0 < clf.explain(row).flips_at_trust < np.inf
    assert again.explain(row).flips_at_trust == pytest.approx(clf.explain(row).flips_at_trust)


def test_an_unlabeled_row_is_explained_by_its_neighbors():
    X, given, *_ = moons()
    clf = small().fit(X, given)
    row = int(np.flatnonzero(given == -1)[0])
    why = clf.explain(row)
    assert why.given_label is None
    assert np.isnan(why.flips_at_trust)
    assert why.keep.label == why.flip.label == 0
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        clf.explain(1.5)
    with pytest.raises(IndexError, match="row 240 is not in the table; its 240 rows are numbered from 0"):
        clf.explain(240)


# -- more than two classes -------------------------------------------------------------------------


def blobs(n=300, n_classes=4, seed=0):
    X, truth = make_blobs(n, centers=n_classes, cluster_std=1.0, random_state=3)
    rng = np.random.default_rng(seed)
    given = truth.copy()
    is_wrong = rng.random(n) < 0.15
    given[is_wrong] = (given[is_wrong] + rng.integers(1, n_classes, is_wrong.sum())) % n_classes
    is_hidden = rng.random(n) < 0.3
    given[is_hidden] = -1
    return X, given, truth, is_wrong & ~is_hidden


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_several_classes_are_told_apart(preset):
    X, given, truth, is_wrong = blobs()
    clf = small(preset).fit(X, given)
    assert np.mean(clf.transduction_ == truth) > 0.9
    assert np.mean(clf.predict(X) == truth) > 0.9
    assert clf.label_distributions_.sum(axis=1) == pytest.approx(1.0)
    assert clf.predict_proba(X).shape == (300, 4)
    found = clf.is_label_issue_
    assert (found & is_wrong).sum() / found.sum() > 0.8
    assert (found & is_wrong).sum() / is_wrong.sum() > 0.8
    why = clf.explain(int(np.flatnonzero(found)[0]))
    assert why.class_in_question == why.given_label


def test_two_classes_need_one_separation_only():
    X, given, *_ = moons()
    assert len(small().fit(X, given)._answer.verdict.cuts) == 1


# -- same input, same bytes ------------------------------------------------------------------------


def bytes_of(clf, order=slice(None)):
    return [
        np.asarray(values)[order].tobytes()
        for values in (clf.transduction_, clf.label_distributions_, clf.label_confidence_, clf.p_wrong_,
                       clf.is_label_issue_)
    ]  # fmt: skip


def test_any_number_of_threads_gives_the_same_bytes():
    X, given, *_ = moons()
    runs = [small(n_jobs=n_jobs).fit(X, given) for n_jobs in (None, 1, 2, 3)]
    assert all(bytes_of(run) == bytes_of(runs[0]) for run in runs)
    assert all(run.predict_proba(X).tobytes() == runs[0].predict_proba(X).tobytes() for run in runs)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.filterwarnings("ignore:degenerate cut")  # the literal text is
def test_the_order_of_the_rows_does_not_matter(preset):
    # Whole numbers: many equal rows, equal distances and equal rows with opposite labels.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(150, 3)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=150) > 4.5).astype(int)
    y[rng.random(150) < 0.3] = -1
    clf = small(preset).fit(X, y)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(150)
        shuffled = small(preset).fit(X[order], y[order])
        assert bytes_of(shuffled) == bytes_of(clf, order)
        assert shuffled.predict_proba(X).tobytes() == clf.predict_proba(X).tobytes()


# -- a citizen of scikit-learn ---------------------------------------------------------------------


def test_pipelines_searches_and_scores():
    X, y = make_moons(120, noise=0.1, random_state=0)
    pipe = make_pipeline(StandardScaler(), small())
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(small(), {"n_neighbors": [5, 10], "preset": ["default", "paper"]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9


def test_cross_validation_of_partly_labeled_rows():
    X, given, *_ = moons()
    scores = cross_val_score(small(), X, given, cv=PartlyLabeledKFold(3))
    assert scores.mean() > 0.8


@pytest.mark.parametrize("copy", [lambda e: pickle.loads(pickle.dumps(e)), "joblib"])
def test_copies_of_a_fitted_estimator_answer_alike(copy, tmp_path):
    X, given, *_ = moons()
    clf = small().fit(X, given)
    if copy == "joblib":
        joblib.dump(clf, tmp_path / "clf")
        other = joblib.load(tmp_path / "clf")
    else:
        other = copy(clf)
    assert other.predict_proba(X).tobytes() == clf.predict_proba(X).tobytes()
    assert other.explain(0).keep == clf.explain(0).keep


def test_clones_keep_parameters_untouched():
    importances = [1, 2]
    clf = ConfidenceHNC("paper", n_neighbors=7, importances=importances, verbose=True)
    assert clone(clf).get_params() == clf.get_params()
    assert clf.importances is importances


def test_sample_weight_is_routed():
    X, given, *_ = moons()
    weight = np.where(given == 1, np.inf, 1.0)
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, small().set_fit_request(sample_weight=True))
        routed.fit(X, given, sample_weight=weight)
    is_one = given == 1
    assert (routed[-1].status_[is_one] == "reviewed").all()
    plain = make_pipeline(StandardScaler(), small()).fit(X, given, confidencehnc__sample_weight=weight)
    assert np.array_equal(plain[-1].transduction_, routed[-1].transduction_)


def test_names_of_columns_are_kept_and_compared():
    X, given, *_ = moons()
    clf = small().fit(pd.DataFrame(X, columns=["east", "north"]), given)
    assert clf.feature_names_in_.tolist() == ["east", "north"]
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(pd.DataFrame(X, columns=["north", "west"]))


def test_verbose_tells_the_stages(capsys):
    X, given, *_ = moons(60)
    small(verbose=True).fit(X, given)
    told = capsys.readouterr().err
    assert told.index("forest") < told.index("graph") < told.index("cut ...") < told.index("second round")


# -- bad rows ---------------------------------------------------------------------------------------


def four_columns(n=400):
    X, truth = make_classification(
        n, 4, n_informative=3, n_redundant=0, class_sep=1.5, flip_y=0, random_state=1
    )
    is_wrong = np.random.default_rng(0).random(n) < 0.1
    return X, np.where(is_wrong, 1 - truth, truth)


def flags_with(X, given, rows, columns, values):
    """Return the flags of the other rows when some cells have other values."""
    changed = X.copy()
    changed[np.ix_(rows, columns)] = values
    return np.delete(ConfidenceHNC().fit(changed, given).is_label_issue_, rows)


@pytest.mark.parametrize("n_bad", [1, 3])
@pytest.mark.parametrize("columns", [[1], [0, 1, 2, 3]], ids=["cells", "rows"])
def test_absurd_values_move_no_more_flags_than_ordinary_ones(n_bad, columns):
    X, given = four_columns()
    rng = np.random.default_rng(5)
    rows = rng.choice(len(X), n_bad, replace=False)
    before = flags_with(X, given, rows, columns, X[np.ix_(rows, columns)])
    ordinary = [X[np.ix_(rng.choice(len(X), n_bad, replace=False), columns)] for _ in range(10)]
    usual = np.median([(flags_with(X, given, rows, columns, v) != before).mean() for v in ordinary])
    for size in (1e6, 1e300):
        assert (flags_with(X, given, rows, columns, size) != before).mean() <= usual + 0.01, size


def test_how_absurd_a_value_is_does_not_matter():
    X, given = four_columns()
    answers = []
    for size in (1e6, 99999999.0, 1e300):
        X[3, 1] = X[5, 2] = size
        answers.append(small().fit(X, given).p_wrong_.tolist())
    assert answers[0] == answers[1] == answers[2]


def test_new_rows_are_clipped_like_the_old_ones():
    X, given = four_columns()
    clf = small().fit(X, given)
    border = np.vstack([clf.column_scale_.high, clf.column_scale_.low])
    far = np.vstack([np.full(4, 1e300), np.full(4, -1e300)])
    assert clf.predict_proba(far).tolist() == clf.predict_proba(border).tolist()


@pytest.mark.parametrize("preset", ["paper", "literal"])
def test_the_presets_of_the_paper_do_not_clip(preset):
    X, given = four_columns(80)
    X[3, 1] = 1e6
    assert small(preset).fit(X, given).column_scale_.low is None


# -- parameters ------------------------------------------------------------------------------------


def test_a_given_parameter_wins_over_the_preset():
    X, given, *_ = moons()
    clf = small("paper", breakpoints="exact", prior_strengths=(1.0,), decision="probability").fit(X, given)
    assert clf.prior_strength_ == 1.0
    assert small("paper").fit(X, given).prior_strength_ == 0.0


def test_importances_can_be_given_or_left_out():
    X, given, *_ = moons()
    assert small(importances="equal").fit(X, given).feature_importances_.tolist() == [0.5, 0.5]
    assert small(importances=[3, 1]).fit(X, given).feature_importances_.tolist() == [0.75, 0.25]
    assert small("paper", importances="equal").fit(X, given).opinion_.importances is None


def test_confidences_may_be_computed_again_in_each_fold():
    X, given, truth, _ = moons()
    clf = small("paper", confidence_in_folds="each").fit(X, given)
    assert np.mean(clf.transduction_ == truth) > 0.95


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"preset": "papr"}, ValueError, r"preset='papr'; choose one of .*'literal'. Did you mean 'paper'\?"),
        ({"kernel": "round"}, ValueError, r"kernel='round'; choose one of 'squared', 'literal'"),
        ({"n_neighbors": 300}, ValueError, r"n_neighbors=300, but each row has only 239 others"),
        ({"n_neighbors": 0}, ValueError, r"n_neighbors=0; choose at least 1"),
        ({"n_neighbors": 2.5}, TypeError, r"n_neighbors=2.5 is a float; give a whole number"),
        ({"bandwidth": -1.0}, ValueError, r"bandwidth=-1.0; give a finite number above 0"),
        ({"enough_hidden": 0}, ValueError, r"enough_hidden=0.0; give a number above 0, or inf for all"),
        ({"n_folds": 1}, ValueError, r"n_folds=1; choose at least 2"),
        ({"tradeoff": "best"}, ValueError, r"tradeoff='best'; choose one of 'crossing', 'accuracy', or give"),
        ({"prior_strengths": [-1]}, ValueError, r"prior_strengths\[0\]=-1.0; give a finite number of 0"),
        ({"importances": "trees"}, ValueError, r"importances='trees'; choose one of 'forest', 'equal', or"),
        ({"importances": [1, 2, 3]}, ValueError, r"importances have shape \(3,\), but X has 2 columns"),
        ({"confidence_strength": 0}, ValueError, r"confidence_strength=0.0; give a finite number above 0"),
        ({"preset": 3}, TypeError, r"preset=3 is a int; choose one of 'default', 'paper', 'literal'"),
        ({"kernel": ["squared"]}, TypeError, r"kernel=\['squared'\] is a list; choose one of 'squared'"),
        ({"bandwidth": "a"}, TypeError, r"bandwidth='a' is a str; give a number"),
        ({"bandwidth": True}, TypeError, r"bandwidth=True is a bool; give a number"),
        ({"n_neighbors": "all"}, TypeError, r"n_neighbors='all' is a str; give a whole number"),
        ({"leaf_sizes": 0.01}, TypeError, r"leaf_sizes=0.01 is a float; give a sequence of numbers"),
        ({"leaf_sizes": "0.01"}, TypeError, r"leaf_sizes='0.01' is a str; give a sequence of numbers"),
        ({"enough_hidden": "all"}, TypeError, r"enough_hidden='all' is a str; give a number"),
        ({"enough_hidden": np.nan}, ValueError, r"enough_hidden=nan; give a number above 0"),
        ({"scale": "no"}, ValueError, r"scale='no'; choose one of 'robust', 'standard', 'none'"),
        ({"scale": False}, TypeError, r"scale=False is a bool; choose one of 'robust', 'standard', 'none'"),
        ({"verbose": "no"}, TypeError, r"verbose='no' is a str; choose one of True, False"),
        ({"confidence_symmetric": "no"}, TypeError, r"confidence_symmetric='no' is a str; choose one of"),
        ({"tradeoff": [0.5]}, TypeError, r"tradeoff=\[0.5\] is a list; give a number"),
        ({"prior_strengths": "12"}, TypeError, r"prior_strengths='12' is a str; give a sequence of numbers"),
        ({"importances": ["a", "b"]}, TypeError, r"importances\[0\]='a' is a str; give a number"),
        ({"n_trees": 2.5}, TypeError, r"n_trees=2.5 is a float; give a whole number"),
    ],
)  # fmt: skip
def test_bad_parameters_are_named_with_what_is_allowed(parameters, error, message):
    X, given, *_ = moons()
    is_parameter = set(parameters) <= set(ConfidenceHNC().get_params())
    clf = ConfidenceHNC(**parameters) if is_parameter else ConfidenceHNC(replace(DEFAULT, **parameters))
    with pytest.raises(error, match=message):
        clf.fit(X, given)


def test_a_preset_may_be_settings_of_ones_own():
    X, given, *_ = moons()
    mine = replace(PAPER, n_trees=15, kernel="literal", n_neighbors=9)
    clf = ConfidenceHNC(mine, n_neighbors=4).fit(X, given)
    assert clf.graph_.n_neighbors == 4, "a parameter wins over the settings"
    assert clone(clf).get_params() == clf.get_params()
    by_name = small("paper", kernel="literal", n_neighbors=4).fit(X, given)
    assert by_name.p_wrong_.tobytes() == clf.p_wrong_.tobytes()


def test_presets_show_their_differences():
    def different(one, other):
        return {name for name, value in asdict(one).items() if value != asdict(other)[name]}

    assert len(different(PAPER, DEFAULT)) == 10
    assert different(LITERAL, PAPER) == {
        "kernel",
        "one_sided",
        "confidence_symmetric",
        "confidence_counts",
        "confidence_scale",
    }
    for preset in (DEFAULT, PAPER, LITERAL):
        assert settings_of(preset, {}) == preset, "a preset passes its own check"


def test_a_setting_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match=r"the setting='kernl'; choose one of .* Did you mean 'kernel'\?"):
        settings_of("paper", {"kernl": "literal"})


# -- bad input -------------------------------------------------------------------------------------


def test_one_class_is_refused():
    X, _ = make_moons(40, random_state=0)
    with pytest.raises(
        ValueError, match=r"all 40 labeled rows are 'spam'; at least one row of each class is needed"
    ):
        small().fit(X, ["spam"] * 40)


def test_no_labels_are_refused():
    X, _ = make_moons(40, random_state=0)
    with pytest.raises(ValueError, match="none of the 40 rows has a label"):
        small().fit(X, [-1] * 40)


def test_a_thousand_classes_are_refused():
    X = np.random.default_rng(0).normal(size=(2000, 3))
    with pytest.raises(
        ValueError, match=r"y has 1000 classes among 2000 labeled rows; at most 100.*another column"
    ):
        small().fit(X, np.arange(2000) % 1000)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_features_are_refused(value):
    X, y = make_moons(40, random_state=0)
    X[3, 1] = value
    with pytest.raises(ValueError, match="NaN|infinity"):
        small().fit(X, y)


def test_labels_of_the_wrong_length_are_refused():
    X, y = make_moons(40, random_state=0)
    with pytest.raises(ValueError, match="y has 39 labels, but X has 40 rows"):
        small().fit(X, y[:-1])


def test_negative_weights_are_refused():
    X, y = make_moons(40, random_state=0)
    with pytest.raises(ValueError, match=r"sample_weight\[0\] is -1.0; it is the trust in a label"):
        small().fit(X, y, sample_weight=-np.ones(40))


def test_unknown_metadata_is_refused():
    X, y = make_moons(40, random_state=0)
    with pytest.raises(
        TypeError, match=r"fit\(\) got groups; .* it takes sample_weight, opinions, embedding, graph"
    ):
        small().fit(X, y, groups=y)


def test_few_rows_take_all_others_as_neighbors():
    X, y = make_blobs(8, centers=[[-5, 0], [5, 0]], random_state=0)
    clf = small().fit(X, y)
    assert clf.graph_.n_neighbors == 7
    assert np.array_equal(clf.predict(X), y)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("make", [ConfidenceHNC, HNC])
def test_one_labeled_row_per_class_is_enough(make, n_classes):
    centers = [[-9, 0], [9, 0], [0, 9], [0, -9]][:n_classes]
    X, truth = make_blobs(200, centers=centers, random_state=0)
    y = np.full(200, -1)
    for c in range(n_classes):
        y[np.flatnonzero(truth == c)[0]] = c
    for preset in ("default", "paper"):
        clf = make(preset).fit(X, y)
        assert np.array_equal(clf.transduction_, truth)
        assert set(clf.status_) == {"labeled", "unlabeled"}


def test_the_only_label_of_a_class_is_never_overruled():
    X = np.random.default_rng(0).normal(size=(4, 2))
    clf = small().fit(X, ["a", "b", None, None])
    assert clf.transduction_[:2].tolist() == ["a", "b"]


def test_minus_one_and_one_are_two_classes():
    X, truth = make_moons(100, noise=0.1, random_state=0)
    clf = small().fit(X, np.where(truth == 1, 1, -1))
    assert clf.classes_.tolist() == [-1, 1]
    assert np.mean((clf.transduction_ == 1) == (truth == 1)) > 0.95


def test_a_fully_labeled_table_is_fine():
    X, given, truth, is_wrong = moons(share_unlabeled=0.0)
    clf = small().fit(X, given)
    assert np.mean(clf.transduction_ == truth) > 0.97
    assert "unlabeled" not in clf.status_


def test_constant_and_duplicate_columns_do_no_harm():
    X, given, truth, _ = moons()
    X = np.column_stack([X, np.full(len(X), 7.0), X[:, 0]])
    assert np.mean(small().fit(X, given).transduction_ == truth) > 0.95


def test_nothing_but_constant_columns_is_answered_evenly():
    X = np.ones((30, 2))
    clf = small().fit(X, np.arange(30) % 2)
    assert np.abs(clf.label_distributions_ - 0.5).max() < 0.2


def test_identical_rows_with_opposite_labels_are_answered():
    X = np.repeat([[0.0, 0.0], [3.0, 3.0]], 20, axis=0)
    y = np.r_[np.zeros(19), 1, np.ones(19), 0].astype(int)  # one contrary label on each spot
    clf = small(n_neighbors=5).fit(X, y)
    assert clf.predict([[0.0, 0.0], [3.0, 3.0]]).tolist() == [0, 1]
    assert np.flatnonzero(clf.is_label_issue_).tolist() == [19, 39]


def test_hard_data_with_many_columns_runs():
    X, y = make_classification(200, 60, n_informative=5, flip_y=0.2, random_state=0)
    y[:50] = -1
    clf = small().fit(X, y)
    assert clf.transduction_.shape == (200,)
    assert clf.evidence_.is_there
