"""An audit on a screen of 80 columns and 24 lines."""

from pathlib import Path

import pandas as pd

from labelcut.auditing.screen import summary_lines

LONG = "a name that goes on and on until nobody would read it to its end, "


def facts(n_columns=6, notes=(), **counts):
    columns = [{"name": f"{LONG}{j}", "kind": "numeric", "role": "feature"} for j in range(n_columns)]
    return {
        "headline": {"number": "7", "title": " of 90 labels look wrong", "lines": ["About 6. " * 12, "B."]},
        "counts": {"rows": 1, "labeled": 90, "unlabeled": 10, "reviewed": 0} | counts,
        "columns": columns,
        "source": {"notes": list(notes)},
        "conflicts": [],
        "worth_knowing": [{"text": LONG * 2}],
        "annotators": None,
    }


def issues(n=7, **cells):
    line = {"row": 3, "given_label": "yes", "predicted_label": "no", "p_wrong": 0.987, "reason": "9 of 9."}
    return pd.DataFrame([line | cells] * n)


def texts(*args, width=80):
    return [line.text for line in summary_lines(*args, Path("out/report.html"), width)]


def test_five_suspects_fit_on_a_screen_whatever_the_names():
    named = {"id": LONG * 3, "given_label": LONG, "predicted_label": LONG * 9, "reason": LONG * 20}
    shown = texts(facts(n_columns=40, notes=[LONG * 9] * 5), issues(**named))
    assert max(len(line) for line in shown) <= 80
    assert len([line for line in shown if "98.7 %" in line]) == 5
    assert len(shown) < 40
    few = texts(facts(), issues(**named))
    assert len(few) <= 24


def test_a_suspect_has_its_row_its_labels_its_probability_and_its_reason():
    shown = texts(facts(n_columns=0), issues(n=1))
    assert shown[-3:] == [
        " 98.7 %  row 3: yes → no",
        "         9 of 9.",
        "report: out/report.html",
    ]


def test_columns_and_counts_are_told_as_people_count():
    shown = texts(facts(n_columns=0, reviewed=1), issues(n=6))
    assert "1 row, 90 labeled, 10 not; 1 reviewed label held as certain." in shown
    assert "         and 1 other in the report" in shown
    columns = [{"name": f"c{j}", "kind": "numeric", "role": "feature"} for j in range(9)]
    shown = texts(facts() | {"columns": columns}, issues(n=0))
    assert "used: c0 (numeric), c1 (numeric), c2 (numeric), c3 (numeric) and 5 more" in shown
