"""Words of a text that speak for one class against another, by the labels of other rows.

A ridge regression of the classes on the tf-idf of the words is fitted to the labels that are no suspects, so
no row that is shown has taught it: its weights times the words of a row are what each word contributes to the
one class against the other. Words are marked only where the texts tell the two classes apart, seen on texts
left out of the fit, and only if plain counting says the same as the weights.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelcut.auditing.cases import Cases
from labelcut.auditing.issues import Judged
from labelcut.auditing.worth_knowing import area_under_curve
from labelcut.table.table import Table

MOST_TEXTS = 2000  # Learned from, drawn with a fixed seed; the fit takes their number to the third power.
MOST_WORDS = 50_000  # Different ones, the most frequent.
MOST_LETTERS = 20_000  # Of a text that are looked at.
MOST_CASES = 3000  # Rows whose words are marked, the first of the page.
MOST_MARKED = 24  # Words in a text.
CARRIED = 2 / 3  # Marked are the fewest words that carry this share of all contributions.
STRONG, CLEAR = 0.5, 0.2  # Levels of a mark, as shares of the strongest contribution in the text.
PENALTY = 1.0  # A text has length 1: one text counts as much as knowing nothing.
FEWEST_TEXTS = 5  # Of a class, to speak for it.
TELLING_AUC = 0.6  # Texts that rank two classes worse than this do not tell them apart.
#: Scripts without blanks between words: there two letters in a row count as a word.
UNSPACED = (
    *("\u0e00-\u0eff", "\u0f00-\u0fff", "\u1000-\u109f", "\u1780-\u17ff", "\u3040-\u30ff", "\u31f0-\u31ff"),
    *("\u3400-\u4dbf", "\u4e00-\u9fff", "\uf900-\ufaff", "\U00020000-\U0003ffff"),
)


@dataclass(frozen=True, eq=False)
class WordModel:
    """What words tell about classes.

    `words` are in the order of the lines of `weights`, which has a column per class, and of `counts`: how
    many of the `n_texts` of each class hold the word. `left_out` has for each text, with its class in
    `codes`, what a fit without it says of each class.
    """

    vectorizer: Any
    words: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    n_texts: np.ndarray
    left_out: np.ndarray
    codes: np.ndarray

    def tells(self, wanted: int, other: int) -> bool:
        """Say whether texts that were left out tell the one class from the other, beyond chance."""
        rows, others = (np.flatnonzero(self.codes == code) for code in (wanted, other))
        if min(rows.size, others.size) < FEWEST_TEXTS:
            return False
        score = self.left_out[:, wanted] - self.left_out[:, other]
        auc = area_under_curve(score, rows, others)
        error = np.sqrt((rows.size + others.size + 1) / (12 * rows.size * others.size))
        return bool(auc >= max(TELLING_AUC, 0.5 + 3 * error))


def mark_words(table: Table, judged: Judged, cases: Cases) -> list[list[list[Any]] | None] | None:
    """Return for each row that is shown the words that speak for its suggested class, or against it.

    Parameters
    ----------
    table : Table
        With a column of texts.
    judged : Judged
    cases : Cases

    Returns
    -------
    list of list or None
        For each case a list of ``[spellings, level, share, other share]``, the strongest first: the word as
        it is written in the text; 1 to 3 if it speaks for the suggested class, -1 to -3 if for the other one;
        the shares of the texts of the two classes that hold it. None for a row whose classes the texts do not
        tell apart. None for all without a column of texts.
    """
    if table.text is None:
        return None
    texts = table.frame[table.text]
    known = np.flatnonzero(table.is_labeled & ~judged.is_suspect)
    if known.size > MOST_TEXTS:
        known = np.sort(np.random.default_rng(0).choice(known, MOST_TEXTS, replace=False))
    model = learn_words(cut_texts(texts.iloc[known]), table.codes[known], len(table.classes))
    n = len(cases.suspects)
    rows = cases.rows[:MOST_CASES]
    wanted = judged.predicted[rows]
    other = np.where(np.arange(rows.size) < n, cases.own[: rows.size], cases.other[: rows.size])
    marks: list[list[list[Any]] | None] = [None] * len(cases.rows)
    telling: dict[tuple[int, int], bool] = {}
    for s, text in enumerate(cut_texts(texts.iloc[rows])):
        pair = int(wanted[s]), int(other[s])
        if model is not None and pair not in telling:
            telling[pair] = model.tells(*pair)
        if model is not None and telling[pair]:
            marks[s] = speaking_words(model, text, *pair)
    return marks


def learn_words(texts: Sequence[str], codes: np.ndarray, n_classes: int) -> WordModel | None:
    """Fit the regression; None if no word occurs in two texts."""
    vectorizer = word_vectorizer()
    try:
        X = vectorizer.fit_transform(texts)
    except ValueError:  # No word is left.
        return None
    n_texts = np.bincount(codes, minlength=n_classes)
    is_class = np.eye(n_classes)[codes]
    Y = is_class - n_texts / codes.size
    inverse = np.linalg.inv((X @ X.T).toarray() + PENALTY * np.eye(codes.size))
    dual = inverse @ Y
    # The answer to each text by a fit without it, in closed form.
    left_out = Y - dual / np.diag(inverse)[:, None]
    counts = np.asarray((X > 0).T.astype(np.float64) @ is_class)
    words = vectorizer.get_feature_names_out()
    return WordModel(vectorizer, words, np.asarray(X.T @ dual), counts, n_texts, left_out, codes)


def word_vectorizer() -> Any:
    """Return what turns texts into the tf-idf of their words, without those that occur in one text only."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer=folded_words, min_df=2, max_features=MOST_WORDS, sublinear_tf=True)


def speaking_words(model: WordModel, text: str, wanted: int, other: int) -> list[list[Any]]:
    """Return the words of a text that tell one class from another, as `mark_words` does."""
    values = sp.csr_array(model.vectorizer.transform([text]))
    at = values.indices
    parts = values.data * (model.weights[at, wanted] - model.weights[at, other])
    shares = [model.counts[at, code] / model.n_texts[code] for code in (wanted, other)]
    # A weight may be there to make up for another one; what is marked can be checked by counting.
    agrees = parts * (shares[0] - shares[1]) > 0
    order = np.lexsort((at, -np.abs(parts)))
    order = order[agrees[order]]
    carried = np.cumsum(np.abs(parts[order]))
    n = int(np.searchsorted(carried, CARRIED * carried[-1] - 1e-12)) + 1 if order.size else 0
    spellings = _spellings(text)
    found = []
    for k in order[: min(n, MOST_MARKED)]:
        size = abs(parts[k]) / abs(parts[order[0]])
        level = 3 if size >= STRONG else 2 if size >= CLEAR else 1
        two = [round(float(share[k]), 3) for share in shares]
        found.append([spellings[str(model.words[at[k]])], level if parts[k] > 0 else -level, *two])
    return found


def folded_words(text: str) -> list[str]:
    """Return the words of a text, upper and lower case taken for the same."""
    return [word.casefold() for word in words_of(text)]


def words_of(text: str) -> list[str]:
    """Return the words of a text in any script: runs of letters and digits, or two letters in a row."""
    return [spaced or pair for spaced, pair in _pattern().findall(text)]


@cache
def _pattern() -> re.Pattern[str]:
    """Return what a word is; vowel signs and accents are parts of it, which Python's own class leaves out."""
    marks = [chr(c) for c in range(0x300, sys.maxunicode + 1) if c < 0x12000 or 0x16000 < c < 0x1F000]
    signs = "".join(mark for mark in marks if unicodedata.category(mark)[0] == "M")
    pairs = "".join(UNSPACED)
    letter = rf"(?:(?![{pairs}_])[\w{signs}])"
    return re.compile(rf"({letter}{{2,}})|(?=([{pairs}]{{2}}))[{pairs}]")


def _spellings(text: str) -> dict[str, list[str]]:
    """Return for each word how it is written in the text."""
    found: dict[str, list[str]] = {}
    for word in dict.fromkeys(words_of(text)):
        found.setdefault(word.casefold(), []).append(word)
    return found


def cut_texts(texts: Any) -> list[str]:
    """Return the texts as far as they are looked at; a missing one is empty."""
    return ["" if gone else str(text)[:MOST_LETTERS] for text, gone in zip(texts, texts.isna(), strict=True)]
