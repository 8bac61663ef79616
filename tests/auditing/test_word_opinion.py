"""The words of a text as an expert: out of sample, for every row, and worth what they know."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import labelcut
from labelcut.auditing.marked_words import word_vectorizer
from labelcut.auditing.word_opinion import ask_words
from labelcut.hnc.folds import deal_folds
from labelcut.table.table import make_table

TOPICS = {
    "billing": ["refund", "card", "price"],
    "delivery": ["parcel", "door", "truck"],
    "other": ["sun", "rain"],
}
FILLER = ["the", "of", "and", "it", "was", "to", "in", "for", "with", "on", "at", "by"]


def letters(n=150, seed=0):
    rng = np.random.default_rng(seed)
    right = np.array(list(TOPICS), dtype=object)[np.arange(n) % 3]
    texts = [
        " ".join(rng.permutation([*rng.choice(FILLER, 5), rng.choice(TOPICS[topic])])) for topic in right
    ]
    return pd.DataFrame({"t": texts, "x": rng.normal(size=n), "y": right})


def test_each_fold_is_asked_only_about_labels_that_it_has_not_seen():
    frame = letters()
    frame.loc[:9, "y"] = None
    table = make_table(frame, label="y", text="t")
    trust = np.ones(150)
    trust[140:] = np.inf
    said = ask_words(table, trust)["words"]
    assert list(said.columns) == list(table.classes)
    assert said.sum(axis=1).to_numpy() == pytest.approx(1)
    X = word_vectorizer().fit_transform(frame["t"])
    fold = deal_folds(np.where(np.isinf(trust), -1, table.codes), 5, 0)
    assert (fold[:10] == -1).all()
    assert (fold[140:] == -1).all()
    models = []
    for k in range(5):
        seen = table.is_labeled & (fold != k)
        models.append(LogisticRegression(C=10, max_iter=200).fit(X[seen], table.codes[seen]))
        expected = models[-1].predict_proba(X[fold == k]) * (1 - 1e-4) + 1e-4 / 3
        assert said.to_numpy()[fold == k] == pytest.approx(expected, abs=1e-9)
    mean = np.mean([model.predict_proba(X[:10]) for model in models], axis=0) * (1 - 1e-4) + 1e-4 / 3
    assert said.to_numpy()[:10] == pytest.approx(mean, abs=1e-9)


def test_words_that_know_nothing_do_not_agree_with_the_labels():
    frame = letters(300)
    frame["y"] = np.random.default_rng(1).permutation(frame["y"].to_numpy())
    table = make_table(frame, label="y", text="t")
    said = ask_words(table, np.ones(300))["words"].to_numpy()
    own = said[np.arange(300), table.codes]
    assert own.mean() < 1 / 3 + 0.05


def test_a_class_of_one_text_and_texts_without_words_are_no_fault():
    frame = letters(61)
    frame.loc[60, "y"] = "rare"
    table = make_table(frame, label="y", text="t")
    said = ask_words(table, np.ones(61))["words"]
    assert (said.to_numpy() > 0).all()
    assert ask_words(make_table(frame, label="y"), np.ones(61)) == {}
    blank = frame.assign(t=["", None, "!?"] * 20 + ["."])
    assert ask_words(make_table(blank, label="y", text="t", kinds={"x": "numeric"}), np.ones(61)) == {}


def test_the_audit_believes_telling_words():
    frame = letters(240)
    wrong = np.arange(0, 240, 17)
    names = list(TOPICS)
    right = frame["y"].copy()
    frame.loc[wrong, "y"] = [names[(names.index(label) + 1) % 3] for label in frame["y"][wrong]]
    found = labelcut.audit(frame, label="y", text="t", n_jobs=1)
    assert found.model.expert_weights_["words"] > 0.5
    issues = found.issues.set_index("row")
    assert set(wrong + 1) <= set(issues.index)
    assert (issues.loc[wrong + 1, "predicted_label"].to_numpy() == right[wrong].to_numpy()).all()
    assert found.facts["source"]["notes"] == []
