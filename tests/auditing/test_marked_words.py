"""Words that speak for a class: found by a fit that never saw the row, and by counting alike."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from labelcut.auditing.cases import Cases
from labelcut.auditing.issues import Judged
from labelcut.auditing.marked_words import learn_words, mark_words, speaking_words, words_of
from labelcut.table.table import make_table

FILLER = ["the", "a", "of", "and", "it", "was", "to", "in", "for", "with"]


def letters(n, seed=0):
    """Return texts of two topics: ‘refund’ and ‘card’ against ‘parcel’ and ‘door’, among filler."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 2
    own = (["refund", "Card"], ["parcel", "door"])
    texts = [" ".join(rng.permutation([*rng.choice(FILLER, 6), rng.choice(own[code])])) for code in codes]
    return texts, codes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't pay 3 refunds: x_y, 40%!", ["Don", "pay", "refunds", "40"]),
        ("Straße ÉCOLE naïve", ["Straße", "ÉCOLE", "naïve"]),
        ("हिन्दी में लिखा", ["हिन्दी", "में", "लिखा"]),
        ("الْعَرَبِيَّة جميلة", ["الْعَرَبِيَّة", "جميلة"]),
        ("e\u0301cole", ["e\u0301cole"]),
        ("返金してください", ["返金", "金し", "して", "てく", "くだ", "ださ", "さい"]),
        ("abc返金de", ["abc", "返金", "de"]),
        ("", []),
        ("!?\n\t\u202e", []),
    ],
)
def test_words_are_found_in_any_script(text, words):
    assert words_of(text) == words


def test_the_fit_and_its_answers_to_texts_left_out_are_those_of_plain_ridge_fits():
    texts, codes = letters(24)
    model = learn_words(texts, codes, 2)
    X = model.vectorizer.transform(texts).toarray()
    Y = np.eye(2)[codes] - 0.5
    plain = Ridge(alpha=1.0, fit_intercept=False).fit(X, Y)
    assert pytest.approx(plain.coef_, abs=1e-10) == model.weights.T
    for i in range(24):
        others = np.arange(24) != i
        without = Ridge(alpha=1.0, fit_intercept=False).fit(X[others], Y[others])
        assert model.left_out[i] == pytest.approx(without.predict(X[i : i + 1])[0], abs=1e-10)
    at = model.words.tolist().index("card")
    assert model.counts[at].tolist() == [sum("Card" in text for text in texts[::2]), 0]


def test_telling_words_are_marked_and_filler_is_not():
    texts, codes = letters(200)
    model = learn_words(texts, codes, 2)
    assert model.tells(0, 1)
    marks = speaking_words(model, "The REFUND, a refund to the parcel of it", 0, 1)
    assert {tuple(words): level > 0 for words, level, *_ in marks} == {
        ("REFUND", "refund"): True,
        ("parcel",): False,
    }
    assert marks[0][2] == pytest.approx(np.mean(["refund" in text for text in texts[::2]]), abs=1e-3)
    assert marks[0][3] == 0
    assert speaking_words(model, "nothing known here", 0, 1) == []
    turned = speaking_words(model, "a refund to the parcel", 1, 0)
    assert {words[0]: level > 0 for words, level, *_ in turned} == {"refund": False, "parcel": True}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.sampled_from([*FILLER, "refund", "parcel", "door"]), max_size=12))
def test_a_marked_word_is_commoner_where_it_speaks_for(seed, words):
    texts, codes = letters(40, seed)
    model = learn_words(texts, codes, 2)
    for spellings, level, share, other in speaking_words(model, " ".join(words), 0, 1):
        assert set(spellings) <= set(words)
        assert 1 <= abs(level) <= 3
        assert (share > other) == (level > 0)
        held = [np.mean([spellings[0] in text.lower().split() for text in texts[c::2]]) for c in (0, 1)]
        assert [share, other] == pytest.approx(held, abs=1e-3)


def test_texts_that_tell_nothing_mark_nothing():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(FILLER, 8)) for _ in range(200)]
    model = learn_words(texts, rng.integers(0, 2, 200), 2)
    assert not model.tells(0, 1)
    assert not learn_words(*letters(8), 2).tells(0, 1)  # Four of each are too few to say.
    assert learn_words(["one two", "three four"], np.array([0, 1]), 2) is None


def judged_table(n=120):
    texts, codes = letters(n)
    given = np.array(["billing", "delivery"], dtype=object)[codes]
    given[0], given[1] = "delivery", None
    table = make_table(pd.DataFrame({"t": texts, "y": given}), label="y", text="t")
    rows = pd.DataFrame(index=range(n))
    return table, Judged(rows, codes.astype(np.int64), np.array([0]))


def test_rows_that_are_shown_teach_nothing():
    table, judged = judged_table()
    cases = Cases(np.array([0]), np.array([1]), own=np.array([1, 1]), other=np.array([0, 0]))
    marks = mark_words(table, judged, cases)
    shown = table.frame["t"]
    own = [next(word for word in shown[i].split() if word not in FILLER) for i in (0, 1)]
    assert [[(words, level > 0) for words, level, *_ in some] for some in marks] == [
        [([own[0]], True)],
        [([own[1]], True)],
    ]
    # Whatever stands in the rows that are shown, the others are marked alike.
    frame = table.frame.copy()
    frame.loc[0, "t"] += " parcel parcel unheard"
    other = make_table(frame, label="y", text="t")
    assert mark_words(other, judged, cases)[1] == marks[1]
    assert mark_words(make_table(frame, label="y"), judged, cases) is None
