"""An explanation as a card in a notebook."""

import re

import numpy as np
import pytest

from labelcut import ConfidenceHNC

CLASSES = ["<i>cold</i>", "warm & dry"]


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    kind = np.arange(80) % 2
    y = np.array(CLASSES, dtype=object)[kind]
    y[0], y[1] = CLASSES[1], None
    return ConfidenceHNC().fit(rng.normal(6.0 * kind[:, None], 1.0, (80, 2)), y)


def test_a_suspect_is_shown_with_its_labels_its_odds_and_its_nearest_rows(model):
    why = model.explain(0)
    card = why._repr_html_()
    assert "Row 0: given <b>warm &amp; dry</b>, predicted <b>&lt;i&gt;cold&lt;/i&gt;</b>" in card
    assert f"{100 * why.p_wrong:.1f} % likely wrong" in card
    rows = re.findall(r"<tr><td>(\d+)</td>", card)
    assert [int(row) for row in rows] == why.neighbors[:6].tolist()
    assert f"<td>{why.keep.total:.2f}</td>" in card
    assert "<i>" not in card


def test_a_row_without_a_label_claims_no_odds(model):
    card = model.explain(1)._repr_html_()
    assert card.startswith("<div")
    assert "Row 1: unlabeled, predicted <b>warm &amp; dry</b>" in card
    assert "likely wrong" not in card
