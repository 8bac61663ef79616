"""Experts who have not seen the label they judge, weighed together."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification, make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from labelcut import HNC, ConfidenceHNC, find_label_issues
from labelcut.hnc import hiding
from labelcut.hnc.boosting import boost, boost_cleaned
from labelcut.hnc.clock import hear_stages
from labelcut.hnc.evidence import shuffle_test
from labelcut.hnc.grouped_forest import grow_groups
from labelcut.hnc.hiding import deal_tasks
from labelcut.hnc.second_round import ThroughNoise, grow_on_cleaned, labels_to_learn


def noisy_table(n=400, n_classes=2, share=0.15, seed=0):
    X, truth = make_classification(
        n, 6, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0, class_sep=1.5, random_state=seed
    )
    rng = np.random.default_rng(seed)
    is_wrong = rng.random(n) < share
    given = np.where(is_wrong, (truth + rng.integers(1, n_classes, n)) % n_classes, truth)
    given[rng.random(n) < 0.2] = -1
    return X, given, truth, is_wrong & (given >= 0)


# -- honest ----------------------------------------------------------------------------------------


def test_a_group_of_trees_knows_nothing_of_the_labels_hidden_from_it():
    X, given, _, _ = noisy_table()
    hiding = deal_tasks(given, np.ones(given.size), 5, 0)
    forest = grow_groups(X, given, hiding, 0.01, 0, 1)
    for m in (0, 7):
        hidden = hiding.masks[m]
        turned = np.where(hidden, 1 - given, given)
        again = grow_groups(X, turned, hiding, 0.01, 0, 1)
        assert again.by_task[m].tobytes() == forest.by_task[m].tobytes(), (
            "for every row, not the hidden alone"
        )


@pytest.mark.parametrize(("again", "parts"), [(grow_on_cleaned, "groups"), (boost_cleaned, "models")])
def test_no_opinion_on_a_row_depends_on_its_own_label(again, parts):
    X, given, _, _ = noisy_table()
    hiding = deal_tasks(given, np.ones(given.size), 5, 0).first_deal
    p_wrong = [np.zeros(given.size)] * len(hiding.masks)
    answers = []
    for codes in (given, np.where(hiding.masks[2], 1 - given, given)):
        learned = labels_to_learn(codes, hiding, np.ones(given.size), p_wrong)
        found = again(X, codes, hiding, learned, 0, 1)
        alone = replace(found, **{parts: getattr(found, parts)[2:3]})
        answers.append(alone.of(X).tobytes())
    assert answers[0] == answers[1]


def test_a_label_has_no_say_in_boosting_but_for_the_length_of_all_boosters():
    X, given, _, _ = noisy_table()
    hiding = deal_tasks(given, np.ones(given.size), 5, 0).first_deal
    turned = np.where(hiding.masks[2], 1 - given, given)
    models = [boost(X, codes, hiding, 0, 1).models[2] for codes in (given, turned)]
    stages = [list(model.staged_predict_proba(X)) for model in models]
    for one, other in zip(*stages, strict=False):
        assert one.tobytes() == other.tobytes()


def test_with_labels_dealt_at_random_no_expert_does_better_than_chance():
    found = {}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            clf = ConfidenceHNC(experts=["forest", "cut", "second_round"]).fit(X, y)
        panel, codes = clf._answer.verdict, clf._answer.rows.codes
        honest = {name: expert.probability for name, expert in panel.experts.items()}
        for name, probability in (honest | {"cut": panel.cut.probability}).items():
            found.setdefault(name, []).append(shuffle_test(probability, codes))
    # Whoever has seen the labels reaches 10 and more.
    assert all(abs(np.mean(z)) < 2.5 for z in found.values()), found


def test_cleaning_never_empties_a_class():
    X, given, _, _ = noisy_table(n_classes=3)
    hiding = deal_tasks(given, np.ones(given.size), 5, 0).first_deal
    p_wrong = [np.where(given == 1, 0.9, 0.1)] * len(hiding.masks)
    learned = labels_to_learn(given, hiding, np.ones(given.size), p_wrong)
    found = grow_on_cleaned(X, given, hiding, learned, 0, 1)
    assert all(group.classes.tolist() == [0, 1, 2] for group in found.groups)


def test_labels_are_learned_from_that_are_not_hidden_and_rather_right_than_wrong():
    _, given, _, _ = noisy_table()
    hiding = deal_tasks(given, np.ones(given.size), 5, 0).first_deal
    p_wrong = np.random.default_rng(0).beta(1, 4, given.size)
    trust = np.where(np.arange(given.size) < 40, np.inf, 1.0)
    for hidden, rows in zip(hiding.masks, labels_to_learn(given, hiding, trust, [p_wrong] * 5), strict=True):
        wanted = (given >= 0) & ~hidden & ((p_wrong <= 0.5) | np.isinf(trust))
        assert rows.tolist() == np.flatnonzero(wanted).tolist()


def test_boosting_ends_after_the_round_that_judges_hidden_labels_best():
    X, given, _, _ = noisy_table(600, share=0.3)
    hiding = deal_tasks(given, np.ones(given.size), 5, 0).first_deal
    found = boost(X, given, hiding, 0, 1)
    assert 1 <= found.n_rounds < 50, "so noisy that it is stopped"
    assert all(model.n_iter_ == found.n_rounds for model in found.models)
    asked = found.models[3].predict_proba(X[hiding.masks[3]])
    assert found.probability[hiding.masks[3]].tobytes() == asked.tobytes()
    assert found.of(X[:5]).tobytes() == np.mean([m.predict_proba(X[:5]) for m in found.models], 0).tobytes()


def test_an_opinion_on_the_true_class_is_seen_through_the_noise():
    class Sure:
        importances = None
        probability = np.array([[1.0, 0.0], [0.5, 0.5]])

        def of(self, X, n_jobs=None):
            return self.probability

    seen = ThroughNoise(Sure(), np.array([[0.8, 0.2], [0.1, 0.9]]))
    assert seen.probability.tolist() == [[0.8, 0.2], pytest.approx([0.45, 0.55])]
    assert seen.of(np.zeros((2, 1))).tobytes() == seen.probability.tobytes()


# -- together --------------------------------------------------------------------------------------


def test_wrong_labels_are_found_and_p_wrong_adds_up():
    X, given, truth, is_wrong = noisy_table(600)
    clf = ConfidenceHNC().fit(X, given)
    assert np.mean(clf.transduction_ == truth) > 0.93
    assert np.mean(is_wrong[clf.is_label_issue_]) > 0.8
    assert np.nansum(clf.p_wrong_) == pytest.approx(is_wrong.sum(), rel=0.25)
    assert np.all(clf.p_wrong_[clf.is_label_issue_] > 0.5)
    assert not (clf.is_label_issue_ & clf.is_worth_a_look_).any()
    assert clf.evidence_.is_there


def border_table(n=900, seed=0):
    """A table whose columns tell the class, and labels that are wrong near the border only."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    truth = (X[:, 0] > 0).astype(int)
    is_wrong = rng.random(n) < 0.45 * np.exp(-2.0 * np.abs(X[:, 0]))
    return X, np.where(is_wrong, 1 - truth, truth), is_wrong


def test_contradicted_labels_that_overlap_explains_are_worth_a_look_and_flagged_on_request():
    X, y, is_wrong = border_table()
    clf = ConfidenceHNC().fit(X, y)
    listed = clf.is_label_issue_ | clf.is_worth_a_look_
    assert clf.is_label_issue_[is_wrong].mean() < 0.5 < listed[is_wrong].mean()
    assert np.mean(is_wrong[listed]) > 0.7
    np.testing.assert_array_equal(listed, clf.transduction_ != y)
    every = ConfidenceHNC(flags="side").fit(X, y)
    np.testing.assert_array_equal(every.is_label_issue_, listed)
    assert not every.is_worth_a_look_.any()
    np.testing.assert_array_equal(every.p_wrong_, clf.p_wrong_)


def test_it_is_said_who_was_believed():
    X, given, _, _ = noisy_table()
    clf = ConfidenceHNC().fit(X, given)
    assert list(clf.expert_weights_) == ["forest", "cut", "second_round"], "boosting needs 1000 labels"
    assert all(weight >= 0 for weight in clf.expert_weights_.values())
    assert all(0 < loss < 0.7 for loss in clf.expert_log_loss_.values())
    assert set(clf.explain(3).opinions) == set(clf.expert_weights_)
    assert "without its own label: " in str(clf.explain(3))


def test_boosting_is_asked_from_a_thousand_labels_on():
    X, given, _, _ = noisy_table(1400)
    assert (given >= 0).sum() > 1000
    names = ["forest", "boosting", "cut", "second_round", "second_boosting"]
    assert list(ConfidenceHNC().fit(X, given).expert_weights_) == names


def test_boosting_takes_over_the_second_round_of_large_tables_of_two_classes():
    X, given, _, _ = noisy_table(7000)
    assert (given >= 0).sum() > 5000
    asked = ConfidenceHNC(experts=["forest", "second_round", "second_boosting"]).fit(X, given)
    assert list(asked.expert_weights_) == ["forest", "second_boosting"]
    asked = ConfidenceHNC(experts=["forest", "second_round"]).fit(X, given)
    assert list(asked.expert_weights_) == ["forest", "second_round"], "who is asked for alone is asked"


@pytest.mark.parametrize("n_classes", [2, 3])
def test_neither_threads_nor_the_order_of_rows_change_a_byte(n_classes):
    X, given, _, _ = noisy_table(300, n_classes)
    first = ConfidenceHNC(n_jobs=1).fit(X, given)
    order = np.random.default_rng(1).permutation(given.size)
    again = ConfidenceHNC(n_jobs=2).fit(X[order], given[order])
    assert again.label_distributions_.tobytes() == first.label_distributions_[order].tobytes()
    assert np.array_equal(again.p_wrong_, first.p_wrong_[order], equal_nan=True)
    assert again.predict_proba(X[:9] + 0.01).tobytes() == first.predict_proba(X[:9] + 0.01).tobytes()
    assert again.expert_weights_ == first.expert_weights_


def test_boosting_has_the_same_bytes_for_any_number_of_threads():
    X, given, _, _ = noisy_table(3000)
    hiding = deal_tasks(given, np.ones(given.size), 5, 0).first_deal
    learned = labels_to_learn(given, hiding, np.ones(given.size), [np.zeros(given.size)] * 5)
    for ask in (
        lambda n: boost(X, given, hiding, 0, n),
        lambda n: boost_cleaned(X, given, hiding, learned, 0, n),
    ):
        assert ask(1).probability.tobytes() == ask(3).probability.tobytes()


def test_reviewed_labels_are_certain_and_ignored_ones_are_unlabeled():
    X, given, _, is_wrong = noisy_table()
    trust = np.ones(given.size)
    reviewed, ignored = np.flatnonzero(is_wrong)[:10], np.flatnonzero(given >= 0)[:20]
    ignored = np.setdiff1d(ignored, reviewed)
    trust[reviewed], trust[ignored] = np.inf, 0.0
    clf = ConfidenceHNC().fit(X, given, sample_weight=trust)
    assert not clf.p_wrong_[reviewed].any()
    assert clf.transduction_[reviewed].tolist() == given[reviewed].tolist()
    assert np.isnan(clf.p_wrong_[ignored]).all()
    assert not clf.is_label_issue_[ignored].any()
    unlabeled = np.where(trust == 0, -1, given)
    same = ConfidenceHNC().fit(X, unlabeled, sample_weight=np.where(trust == 0, 1.0, trust))
    assert same.label_distributions_.tobytes() == clf.label_distributions_.tobytes()


def test_if_every_label_is_held_the_cut_decides_alone():
    X, given, _, _ = noisy_table(200)
    held = ConfidenceHNC().fit(X, given, sample_weight=np.full(given.size, np.inf))
    assert held.expert_weights_ == {}
    assert held.label_distributions_.tobytes() == HNC().fit(X, given).label_distributions_.tobytes()


@pytest.mark.parametrize("counts", [(1, 1), (2, 2), (3, 9), (1, 40, 40), (2, 6, 30)])
def test_few_labels_of_a_class_are_enough(counts):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(counts)), counts)
    X = rng.normal(size=(y.size + 30, 3)) * 0.3
    X[: y.size] += y[:, None]
    given = np.r_[y, np.full(30, -1)]
    clf = ConfidenceHNC().fit(X, given)
    assert clf.label_distributions_.sum(axis=1) == pytest.approx(1.0)
    assert np.all(np.isfinite(clf.p_wrong_[: y.size]))
    assert np.mean(clf.transduction_[: y.size] == y) > 0.9


# -- experts that users bring ----------------------------------------------------------------------


def test_own_classifiers_are_asked_and_weighed():
    X, given, truth, _ = noisy_table(600)
    frozen = FrozenEstimator(LogisticRegression().fit(X[given < 0], truth[given < 0]))
    mine = [("bayes", GaussianNB()), LogisticRegression(), ("frozen", frozen)]
    clf = ConfidenceHNC(experts=["forest", "cut", *mine]).fit(X, given)
    assert list(clf.expert_weights_) == ["forest", "cut", "bayes", "logisticregression", "frozen"]
    assert np.mean(clf.predict(X) == truth) > 0.9
    assert set(clf.timings_) >= {"bayes", "logisticregression", "frozen"}


def test_a_frozen_classifier_speaks_of_its_own_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    frozen = FrozenEstimator(GaussianNB().fit(X, names))
    clf = ConfidenceHNC(experts=["forest", "cut", ("mine", frozen)]).fit(X, names)
    assert clf.expert_log_loss_["mine"] < 0.3
    other = FrozenEstimator(GaussianNB().fit(X, y))
    with pytest.raises(ValueError, match=r"knows the class 0, which no label here has"):
        ConfidenceHNC(experts=["forest", ("mine", other)]).fit(X, names)


def test_given_opinions_are_heard_and_wanted_again():
    X, given, truth, _ = noisy_table(400)
    oracle = np.where(truth == 1, 0.97, 0.03)
    clf = ConfidenceHNC().fit(X, given, opinions={"oracle": oracle})
    assert clf.expert_weights_["oracle"] == max(clf.expert_weights_.values())
    assert np.mean(clf.transduction_ == truth) > 0.98
    assert np.mean(clf.predict(X[:50], opinions={"oracle": oracle[:50]}) == truth[:50]) > 0.98
    with pytest.raises(ValueError, match="fit was given the opinions of 'oracle'; pass those"):
        clf.predict(X[:3])
    with pytest.raises(ValueError, match="fit knew no opinions of 'other'"):
        clf.predict(X[:3], opinions={"oracle": oracle[:3], "other": oracle[:3]})


def test_probabilities_that_have_seen_the_labels_are_told_and_honest_ones_are_not():
    X, given, truth, _ = noisy_table(400)
    labeled = given >= 0
    seen = np.where(labeled, given, truth) * 0.96 + 0.02
    quick = ConfidenceHNC(experts=["forest", "cut"])
    with pytest.warns(UserWarning, match=r"'seen'\] agree with 100.0% .*cross_val_predict\(model, X, y, "):
        quick.fit(X, given, opinions={"seen": seen})
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        quick.fit(X, given, opinions={"oracle": truth * 0.96 + 0.02})


def test_cleanlabs_name_for_probabilities_is_taken():
    X, given, truth, _ = noisy_table(120)
    P = np.column_stack([0.96 - 0.92 * truth, 0.04 + 0.92 * truth])
    quick = {"experts": ["forest", "cut"]}
    found = find_label_issues(X, given, pred_probs=P, **quick)
    fitted = ConfidenceHNC(**quick).fit(X, given, opinions={"pred_probs": P})
    assert found.equals(fitted.label_issues_)
    alone = find_label_issues(None, given, pred_probs=P, **quick)
    assert np.mean(alone["predicted_label"] == truth) > 0.97


def test_random_opinions_change_next_to_nothing():
    X, given, truth, _ = noisy_table(400)
    noise = np.random.default_rng(5).random(400)
    plain, with_noise = (
        ConfidenceHNC().fit(X, given),
        ConfidenceHNC().fit(X, given, opinions={"noise": noise}),
    )
    assert with_noise.expert_weights_["noise"] < 0.1
    assert np.mean(plain.transduction_ != with_noise.transduction_) < 0.02


def test_opinions_come_as_frames_with_classes_in_any_order():
    import pandas as pd

    X, y = make_moons(120, noise=0.1, random_state=0)
    names = np.array(["no", "yes"])[y]
    p = np.where(y == 1, 0.9, 0.1)
    frame = pd.DataFrame({"yes": p, "no": 1 - p})
    by_frame = ConfidenceHNC().fit(X, names, opinions={"mine": frame})
    by_array = ConfidenceHNC().fit(X, names, opinions={"mine": np.column_stack([1 - p, p])})
    by_vector = ConfidenceHNC().fit(X, names, opinions={"mine": p})
    assert by_frame.p_wrong_.tobytes() == by_array.p_wrong_.tobytes() == by_vector.p_wrong_.tobytes()


@pytest.mark.parametrize(
    ("opinion", "message"),
    [
        (np.array([[2.0, -1.0]] * 60), "no probabilities; if they are logits, pass scipy.special.softmax"),
        (np.array([[0.5, 0.2]] * 60), "adds up to 0.7 in row 0"),
        (np.full((60, 3), 1 / 3), r"has shape \(60, 3\).*\(60, 2\), in the order \[0, 1\]"),
        (np.full((59, 2), 0.5), r"has shape \(59, 2\)"),
        (np.full((60, 2), np.nan), "every row needs a probability"),
    ],
)
def test_what_is_no_probability_is_refused_with_a_remedy(opinion, message):
    X, y = make_moons(60, noise=0.1, random_state=0)
    with pytest.raises(ValueError, match=message):
        ConfidenceHNC().fit(X, y, opinions={"mine": opinion})


def test_bad_experts_are_refused():
    X, y = make_moons(60, noise=0.1, random_state=0)
    with pytest.raises(TypeError, match="give a dict from a name to probabilities"):
        ConfidenceHNC().fit(X, y, opinions=np.zeros(60))
    with pytest.raises(ValueError, match="experts='forrest'; choose one of .* Did you mean 'forest'?"):
        ConfidenceHNC(experts=["forrest"]).fit(X, y)
    with pytest.raises(TypeError, match="give a list of names"):
        ConfidenceHNC(experts="forest").fit(X, y)
    with pytest.raises(TypeError, match="has no predict_proba"):
        ConfidenceHNC(experts=["cut", ("svm", LinearSVC())]).fit(X, y)
    with pytest.raises(ValueError, match="two experts are called 'gaussiannb'"):
        ConfidenceHNC(experts=[GaussianNB(), GaussianNB()]).fit(X, y)
    with pytest.raises(ValueError, match="experts is empty"):
        ConfidenceHNC(experts=[]).fit(X, y)
    with pytest.raises(ValueError, match="nobody would hear 'mine': the cut decides alone"):
        ConfidenceHNC("paper").fit(X, y, opinions={"mine": np.full(60, 0.5)})


def test_who_listens_hears_how_much_of_each_stage_is_done():
    X, given, _, _ = noisy_table(200)
    heard = {}
    with hear_stages(lambda stage, part: heard.setdefault(stage, []).append(part)):
        ConfidenceHNC().fit(X, given)
    for stage in ("forest", "cut", "second round"):
        assert heard[stage] == sorted(heard[stage])
        assert len(heard[stage]) > 5
        assert heard[stage][-1] == 1.0


def few_of_each(n_classes, n_labels, seed=0):
    """Return blobs with a few labels of each class, and the right classes."""
    rng = np.random.default_rng(seed)
    right = np.repeat(np.arange(n_classes), n_labels + 4)
    X = 3.0 * rng.normal(size=(n_classes, 6))[right] + rng.normal(size=(right.size, 6))
    is_labeled = np.tile(np.arange(n_labels + 4) < n_labels, n_classes)
    return X, np.where(is_labeled, right, -1), right


@pytest.mark.parametrize(("n_classes", "n_labels"), [(2, 2), (3, 4), (12, 2)])
def test_a_few_labels_of_each_class_teach_the_experts_and_none_is_called_wrong(n_classes, n_labels):
    X, y, right = few_of_each(n_classes, n_labels)
    model = ConfidenceHNC().fit(X, y)
    assert set(model.expert_weights_) >= {"forest", "cut"}
    assert (model.transduction_ == right)[y == -1].mean() >= 0.8
    assert not model.is_label_issue_.any()
    assert np.nansum(model.p_wrong_) <= 1.0


def test_without_two_classes_of_two_labels_the_cut_decides_alone():
    X, y, _ = few_of_each(2, 2)
    y[np.flatnonzero(y == 1)[1:]] = -1
    assert ConfidenceHNC().fit(X, y).expert_weights_ == {}


def take_for_many(monkeypatch, n_labels):
    """Let so many hidden labels be enough; labels are dealt once, as very many are."""
    monkeypatch.setattr(hiding, "ENOUGH_HIDDEN", n_labels)
    monkeypatch.setattr(hiding, "ENOUGH_JUDGEMENTS", 1)


def test_of_very_many_labels_the_cut_is_asked_about_some_and_weighed_by_them(monkeypatch):
    X, given, truth, is_wrong = noisy_table(2500)
    asked_about_all = ConfidenceHNC().fit(X, given)
    take_for_many(monkeypatch, 500)
    model = ConfidenceHNC(n_jobs=2).fit(X, given)
    panel = model._answer.verdict
    assert [cut.votes.shape[0] for cut in panel.cuts] == [2]  # of five tasks, which hide 400 labels each
    assert "cut" not in panel.unseen
    assert "cut" in asked_about_all._answer.verdict.unseen
    assert panel.n_labeled == (given >= 0).sum()
    # Its weight comes from labels that were hidden from it: one that had seen them would be believed most.
    assert model.expert_weights_["cut"] < 2 * max(asked_about_all.expert_weights_["cut"], 0.1)
    hits = [(fit.transduction_ == truth)[given == -1].mean() for fit in (model, asked_about_all)]
    assert hits[0] > hits[1] - 0.02
    assert model.p_wrong_[is_wrong].mean() > 5 * model.p_wrong_[(given >= 0) & ~is_wrong].mean()
    assert np.nansum(model.p_wrong_) == pytest.approx(np.nansum(asked_about_all.p_wrong_), rel=0.2)


def test_the_rows_it_is_weighed_by_do_not_hang_on_the_order_or_on_threads(monkeypatch):
    take_for_many(monkeypatch, 300)
    X, given, _, _ = noisy_table(1500)
    order = np.random.default_rng(1).permutation(len(X))
    one, other = ConfidenceHNC(n_jobs=1).fit(X, given), ConfidenceHNC(n_jobs=2).fit(X[order], given[order])
    assert one.p_wrong_[order].tobytes() == other.p_wrong_.tobytes()
    assert one.predict_proba(X[:20]).tobytes() == other.predict_proba(X[:20]).tobytes()


def test_without_a_booster_the_cut_is_asked_about_every_label(monkeypatch):
    take_for_many(monkeypatch, 100)
    X, given, _, _ = noisy_table(600, n_classes=3)
    model = ConfidenceHNC().fit(X, given)
    assert model._answer.verdict.is_cut_unseen
    assert not np.isnan(model._answer.verdict.cuts[0].choice.join_at[model._answer.rows.labeled]).any()
