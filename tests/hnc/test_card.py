"""An explanation in a notebook."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
from sklearn.datasets import make_moons

from labelcut import ConfidenceHNC


def explained(names, row=0):
    X, y = make_moons(60, noise=0.1, random_state=0)
    labels = np.array(names, dtype=object)[y]
    labels[5] = None
    return ConfidenceHNC(n_neighbors=12).fit(X, labels).explain(row)


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data + " "


def test_a_card_shows_the_verdict_the_neighbours_and_the_costs():
    why = explained(["cat", "dog"])
    tags = Tags(why._repr_html_())
    assert tags.open == []
    assert set(tags.seen) <= {*("div", "b", "table", "tr", "th", "td", "details", "summary")}
    text = " ".join(tags.text.split())
    assert text.startswith(f"Row 0: given {why.given_label} , predicted {why.predicted_label}")
    assert f"wrong with a probability of {why.p_wrong:.0%}" in text
    assert len(re.findall("<tr>", why._repr_html_())) == 1 + min(10, len(why.neighbors)) + 1 + 2
    assert f"the first 10 of {len(why.neighbors)}" in text
    assert f"{why.keep.total:.3f}" in text


def test_nothing_in_a_label_becomes_html():
    evil = '<img src=x onerror="alert(1)">&'
    why = explained([evil, "dog"], row=5)
    for shown in (why, replace(why, given_label=evil, p_wrong=0.5, label_confidence=0.1)):
        tags = Tags(shown._repr_html_())
        assert "img" not in tags.seen
        assert evil in tags.text


def test_a_row_without_a_label_has_no_probability_of_being_wrong():
    text = " ".join(Tags(explained(["cat", "dog"], row=5)._repr_html_()).text.split())
    assert text.startswith("Row 5: unlabeled, predicted")
    assert "wrong" not in text
