"""The rows that the page shows in full: their cells, their neighbours, what differs."""

import numpy as np
import pandas as pd
import pytest
from tables import shop

import labelcut
from labelcut.auditing.cases import _mark_differences, _marked_columns, _within
from labelcut.auditing.unlabeled import _in_words
from labelcut.table.table import make_table


@pytest.fixture(scope="module")
def audit():
    frame, _ = shop(n_rows=200, n_wrong=10)
    frame.loc[150:, "churned"] = None
    return labelcut.audit(frame, label="churned", id="customer", group="clerk", n_jobs=1)


def test_numbers_differ_by_half_the_middle_spread_and_categories_by_name():
    frame = pd.DataFrame(
        {
            "number": [0.0, 1.0, 2.0, 3.0, 4.0, 2.4, 3.5, np.nan],  # the middle half spans 1.75
            "word": ["a", "a", "b", "b", "a", "a", "b", "a"],
            "label": ["x", "y"] * 4,
        }
    )
    table = make_table(frame, label="label", kinds={"number": "numeric", "word": "category"})
    marked = _marked_columns(table, {"number": 0.9, "word": 0.1})
    assert marked == [0, 1]
    near = [np.array([5, 6, 7]), np.array([7])]
    digits = _mark_differences(table, marked, np.array([2, 7]), near)
    # Row 2 is (2, b): 2.4 a is near but another word; 3.5 b is far; a gap is another number.
    assert [[f"{int(part, 16):08b}"[:2] for part in some] for some in digits] == [["01", "10", "11"], ["00"]]


def test_long_cells_are_whole_until_the_page_is_full():
    texts = ["x" * 400, "short", "y" * 500, "z" * 450]
    kept, used = _within(texts, 1000)
    assert kept[:3] == texts[:3]
    assert kept[3] == "z" * 300 + "… (450 characters)"
    assert used == 900 + len(kept[3])


def test_every_unlabeled_row_has_all_its_facts(audit):
    facts = audit.facts
    unlabeled, summary = facts["unlabeled_rows"], audit.summary["unlabeled"]
    m = int((~audit.table.is_labeled).sum())
    assert {len(values) for values in unlabeled.values()} == {m} == {summary["rows"]}
    assert unlabeled["sure"] == sorted(unlabeled["sure"])
    assert set(unlabeled["given"]) == {-1}
    assert summary["sure"] == sum(sure >= 0.95 for sure in unlabeled["sure"])
    assert summary["classified"] == sum(part["predicted"] for part in summary["by_class"]) == m
    assert summary["expected_right"] == pytest.approx(sum(unlabeled["sure"]), abs=0.1)
    for suggested, own, other in zip(
        unlabeled["suggested"], unlabeled["own"], unlabeled["other"], strict=True
    ):
        assert suggested == own != other


def test_the_rows_of_the_page_are_cases_first_and_every_neighbour_is_among_them(audit):
    facts = audit.facts
    rows, cases = facts["rows"], [facts["suspects"], facts["unlabeled_rows"]]
    expected = cases[0]["row"] + cases[1]["row"]
    assert rows["row"][: len(expected)] == expected
    assert len(set(rows["row"])) == len(rows["row"])
    codes = audit.table.codes
    assert rows["code"] == [int(codes[row - 1]) for row in rows["row"]]
    for part in cases:
        for near, unlike in zip(part["neighbors"], part["unlike"], strict=True):
            assert len(near) == len(unlike) <= 6
            assert all(0 <= place < len(rows["row"]) for place, _ in near)
    plan = facts["values"][[column["name"] for column in facts["columns"]].index("plan")]
    texts = [plan["d"][i] for i in plan["i"]]
    assert texts == audit.table.frame["plan"].iloc[[row - 1 for row in rows["row"]]].tolist()


@pytest.mark.parametrize(
    ("rows", "classified", "sure", "text"),
    [
        (0, 0, 0, ""),
        (5, 0, 0, "5 unlabeled rows could not be classified."),
        (1, 1, 1, "1 unlabeled row was classified, with a probability of 95 % or more."),
        (1, 1, 0, "1 unlabeled row was classified, but not with a probability of 95 % or more."),
        (9, 9, 9, "9 unlabeled rows were classified, all of them with a probability of 95 % or more."),
        (
            *(9, 7, 0),
            "7 unlabeled rows were classified, none of them with a probability of 95 % or more; "
            "for 2 others there is no evidence.",
        ),
    ],
)
def test_unlabeled_rows_are_told_in_a_sentence(rows, classified, sure, text):
    assert _in_words({"rows": rows, "classified": classified, "sure": sure}, "unlabeled row") == text
