"""From a fitted model to facts, and from facts to a page, without a browser."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from tables import shop

import labelcut
from labelcut.auditing.headline import tell_headline
from labelcut.auditing.notes import tell_warning
from labelcut.auditing.page import SCRIPTS, TEMPLATES, render_page, safe_json
from labelcut.auditing.reasons import _main_reason
from labelcut.auditing.review_curve import expected_finds, plant_and_find
from labelcut.auditing.row_map import draw_map
from labelcut.auditing.unusual import _tail_share
from labelcut.auditing.words import cell_texts, grouped, percent, shortened
from labelcut.table.table import make_table


@pytest.fixture(scope="module")
def audit():
    frame, _ = shop()
    return labelcut.audit(frame, label="churned", id="customer", group="clerk", n_jobs=1)


def test_the_tail_share_of_a_number_is_two_sided():
    members = np.arange(1.0, 11.0)  # 1 ... 10
    asked = np.array([1.0, 5.0, 10.0, 11.0, np.nan])
    assert _tail_share(members, asked, False) == pytest.approx([0.2, 1.0, 0.2, 0.0, 0.0])


def test_the_tail_share_of_a_category_counts_it_and_all_rarer_ones():
    members = np.array([0.0] * 6 + [1.0] * 3 + [2.0])  # six, three and one
    asked = np.array([0.0, 1.0, 2.0, 7.0])
    assert _tail_share(members, asked, True).tolist() == [1.0, 0.4, 0.1, 0.0]
    with_gaps = np.array([0.0] * 8 + [np.nan] * 2)
    assert _tail_share(with_gaps, np.array([np.nan, 0.0]), True).tolist() == [0.2, 1.0]


def test_planted_errors_in_a_clear_table_come_first():
    rng = np.random.default_rng(0)
    codes = np.arange(200) % 2
    X = rng.normal(codes[:, None] * 6.0, 1.0, (200, 3))
    check = plant_and_find(X, codes, 0.05, 1)
    assert (check.n_planted, check.n_sample) == (10, 200)
    assert 9 <= check.n_found <= 10


def test_too_few_labels_give_no_check():
    codes = np.array([0, 1] * 10)
    assert plant_and_find(np.arange(20.0)[:, None], codes, 0.1, 1) is None


def test_what_a_review_finds_is_the_sum_of_the_stated_probabilities():
    p_wrong = np.array([0.2, 0.9, np.nan, 0.4, 0.6])
    is_open = np.isfinite(p_wrong)
    finds = expected_finds(p_wrong, np.array([1, 3]), is_open)  # suspects first, then the rest
    assert finds == pytest.approx([0.0, 0.9, 1.3, 1.9, 2.1])


def test_headline_estimate_curve_and_probabilities_say_the_same(audit):
    facts = audit.facts
    wrong, budget = facts["suspects"]["wrong"], facts["budget"]
    n, found = budget["at_flagged"]
    assert n == len(wrong)
    assert found == pytest.approx(sum(wrong), abs=0.1)
    assert budget["total"] == pytest.approx(facts["estimate"]["wrong"], abs=0.1)
    assert budget["found"] == sorted(budget["found"])
    assert max(budget["found"]) <= budget["total"] + 0.1
    title = facts["headline"]["number"] + facts["headline"]["title"]
    assert title == f"{n} of {facts['counts']['labeled']} labels look wrong"


def told(n, labeled, wrong, found, *, is_known=True, is_there=True, contradicted=0):
    """What is told of an audit with so many suspects and so many wrong labels expected."""
    facts = {
        "counts": {"left_out": 0, "suspects": n, "labeled": labeled},
        "estimate": {
            "wrong": wrong,
            "share": wrong / labeled if is_known else None,
            "contradicted": contradicted,
            "labels": labeled,
            "is_known": is_known,
        },
        "evidence": {"text": "Evidence.", "is_there": is_there},
        "budget": {"at_first": [n, found], "at_flagged": [n, found]} if is_known else None,
        "unlabeled": {"text": ""},
        "annotators": None,
    }
    found = tell_headline(facts)
    return found["number"] + found["title"], found["lines"]


def headline(*numbers, **choices):
    """The headline, and the first line below it."""
    title, lines = told(*numbers, **choices)
    return title, lines[0]


def test_what_overlap_may_hide_is_told_if_it_is_more_than_expected():
    for n in (0, 14, 15):
        assert told(10, 1477, 16.0, 9.0, contradicted=n)[1][1:] == ["Evidence."]
    assert told(2, 1477, 16.0, 1.0, contradicted=296)[1][1] == (
        "The columns contradict 296 more labels (20 %). Where classes overlap that is no mistake; if yours "
        "do not, it is: audit again with flags side to list them all."
    )
    line = told(0, 1477, 0.2, 0.0, contradicted=15)[1][1]
    assert line.startswith("The columns contradict 15 labels (1.0 %).")


def test_suspects_that_are_rather_right_than_wrong_are_worth_a_look_only():
    title, line = headline(331, 200_000, 134.0, 27.0)
    assert title == "331 of 200\u202f000 labels are worth a look"
    assert line == (
        "About 134 wrong labels are expected in all (0.1 %). "
        "Reviewing all 331 suspects should find about 27 of them."
    )


def test_a_headline_counts_as_people_do():
    assert headline(1, 40, 1.2, 0.9) == (
        "1 of 40 labels looks wrong",
        "About 1 wrong label is expected in all (3.0 %). Reviewing it should find about 1 of them.",
    )
    assert headline(0, 40, 0.2, 0.0) == (
        *("No label looks wrong", "All 40 labels agree with the rows around them."),
    )
    title, line = headline(0, 40, 2.0, 0.0)
    assert line == "About 2 wrong labels are expected among 40, but none stands out enough to be named."


def test_labels_too_few_for_a_test_are_not_said_to_agree():
    assert headline(0, 9, 0.5, 0.0, is_there=None)[1] == "None of 9 labels stands out."


def test_without_evidence_no_number_of_wrong_labels_is_claimed():
    title, line = headline(0, 2000, None, None, is_known=False)
    assert title == "No label can be called wrong by these columns"
    assert line == "How many are wrong cannot be told from this table."


def test_a_warning_of_the_model_names_no_parameter_of_it():
    told = tell_warning(
        "degenerate cut: 99.0% of the 42 unlabeled rows are on one side, although 40% of the trusted labels "
        "are on the other. Labels weigh too little against the graph: raise confidence_strength, use fewer "
        "n_neighbors or a smaller bandwidth, or take preset='default'."
    )
    assert told == (
        "99.0% of the 42 unlabeled rows are on one side, although 40% of the trusted labels are on the "
        "other. Do not trust the classes of these rows before you have looked at some of them."
    )
    told = tell_warning(
        "no label reaches 3 of the 9 unlabeled rows, or their evidence is tied; their status_ is 'no "
        "evidence' and all classes are equally probable. Label some rows like them, or raise n_neighbors."
    )
    assert told == (
        "No label reaches 3 of the 9 unlabeled rows, or their evidence is tied. Label some rows like them."
    )
    assert tell_warning("anything else.") == "anything else."


@pytest.mark.parametrize(
    ("votes", "opinion", "reason"),
    [
        ([9, 2, 0], [0.9, 0.1, 0.0], "9 of 11 labeled rows near it are ‘a’"),
        ([7, 0, 0], [0.9, 0.1, 0.0], "All 7 labeled rows near it are ‘a’"),
        ([1, 0, 0], [0.9, 0.1, 0.0], "The row near it is ‘a’"),
        (
            [0, 9, 6],
            [0.6, 0.3, 0.1],
            "The forest, from its columns, says ‘a’ (60 %), but none of the 15 labeled rows near it is ‘a’",
        ),
        (
            [3, 9, 6],
            [0.6, 0.3, 0.1],
            "The forest, from its columns, says ‘a’ (60 %), 3 of 18 labeled rows near it are ‘a’, too",
        ),
        (
            [0, 0, 9],
            [0.3, 0.1, 0.6],
            "Columns and rows near it together make ‘a’ likeliest (55 %), "
            "but none of the 9 labeled rows near it is ‘a’",
        ),
        (
            [0, 0, 0],
            None,
            "Columns and rows near it together make ‘a’ likeliest (55 %), no labeled row is near",
        ),
    ],
)
def test_a_reason_speaks_for_the_suggestion(votes, opinion, reason):
    opinion = None if opinion is None else np.array(opinion)
    in_all = np.array([0.55, 0.2, 0.25])
    assert _main_reason(np.array(votes), opinion, in_all, 1, 0, ("a", "b", "c")) == reason


def test_every_suspect_has_all_its_facts(audit):
    facts = audit.facts
    n = len(facts["suspects"]["row"])
    assert n == facts["counts"]["suspects"] == len(audit.issues) > 0
    assert {len(values) for values in facts["suspects"].values()} == {n}
    assert facts["suspects"]["id"] == audit.issues["id"].tolist()
    assert sum(map(sum, facts["moves"]["counts"])) == facts["moves"]["shown"] == n
    assert sum(map(sum, facts["histogram"]["suspect"])) == n
    assert sum(map(sum, facts["histogram"]["all"])) == facts["counts"]["labeled"]
    for near in facts["suspects"]["neighbors"]:
        weights = [weight for *_, weight in near]
        assert weights == sorted(weights, reverse=True)
    names = [column["name"] for column in facts["columns"]]
    weight = {column["name"]: column["weight"] for column in facts["columns"]}
    assert sum(weight.values()) == pytest.approx(1, abs=1e-3)
    assert weight["visits"] > weight["since"]
    assert weight["clerk"] == weight["customer"] == 0
    for s, row in enumerate(facts["suspects"]["row"]):
        stored = facts["values"][names.index("plan")]
        text = stored["d"][stored["i"][s] if "i" in stored else s]
        assert text == audit.table.frame["plan"].iloc[row - 1]


def test_keeping_a_suspect_label_costs_more_than_flipping_it(audit):
    suspects = audit.facts["suspects"]
    dearer = [sum(keep) > sum(flip) for keep, flip in zip(suspects["keep"], suspects["flip"], strict=True)]
    assert np.mean(dearer) > 0.9


def test_a_reason_names_the_neighbours(audit):
    for reason in audit.issues["reason"]:
        assert re.match(r"(All \d+|\d+ of \d+) labeled rows near it are ‘(yes|no)’|No labeled row", reason)


def test_json_in_the_page_cannot_leave_its_element():
    facts = {"text": "</script><!--<script>&\u2028"}
    text = safe_json(facts)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == facts
    assert json.loads(safe_json({"x": "\ud800"})) == {"x": "?"}


def test_the_page_carries_the_facts_and_nothing_from_outside(audit):
    page = render_page(audit.facts)
    carried = re.search(r'id="facts">(.*?)</script>', page, re.S)[1]
    assert json.loads(carried) == json.loads(json.dumps(audit.facts))
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_how_the_curve_was_checked_is_said_once_and_by_the_facts(audit):
    page = render_page(audit.facts)
    words, _ = re.split(r'<script type="application/json"', page)
    assert words.count(audit.facts["budget_note"]) == 1
    assert page.count("flipped at random") == 2  # in the words, and in the facts


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_in_lines_people_can_read(name):
    lines = (TEMPLATES / name).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 100] == []
    for line in lines:
        code = re.sub(r"\"(\\.|[^\"])*\"|'(\\.|[^'])*'|`[^`]*`|/\*.*?\*/|//.*|\bfor \(.*?;.*?;", "", line)
        assert code.count(";") <= 1, line  # one statement
        assert not re.search(r"\{ [^}]*;", code), line  # a body has lines of its own
    starts = [i for i, line in enumerate(lines) if re.match(r"(async )?function ", line)]
    ends = [next(i for i in range(start, len(lines)) if lines[i] == "}") for start in starts]
    assert max((end - start for start, end in zip(starts, ends, strict=True)), default=0) <= 60


def test_numbers_and_texts_read_well():
    assert (grouped(1234567.4), percent(0.031), percent(0.5), percent(0.996)) == (
        *("1\u202f234\u202f567", "3.1 %", "50 %", "99.6 %"),
    )
    dates = pd.Series(pd.to_datetime(["2024-01-31", None]))
    assert cell_texts(dates) == ["2024-01-31", ""]
    assert cell_texts(pd.Series([0.1 + 0.2, 3.0, None])) == ["0.3", "3", ""]
    assert shortened("x" * 400).endswith("… (400 characters)")


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("value", [99999999.0, 1e300])
def test_columns_with_absurd_values_are_named(value):
    frame, _ = shop()
    frame.loc[4, "visits"] = value
    found = labelcut.audit(frame, label="churned", id="customer", n_jobs=1)
    notes = found.summary["source"]["notes"]
    assert any(f"visits (1 rows, up to {value:g})" in note for note in notes), notes
    assert f"visits (1 rows, up to {value:g})" in found.page()


def test_an_ordinary_table_has_no_note_on_absurd_values(audit):
    assert not [note for note in audit.summary["source"]["notes"] if "far from all others" in note]


def test_the_page_and_the_summary_say_how_well_the_columns_tell_the_classes_apart(audit):
    evidence, found = audit.summary["evidence"], audit.model.evidence_
    assert evidence["is_there"] is True
    assert evidence["auc"] == round(found.auc, 4) > 0.8
    assert evidence["text"] == str(found)
    assert f"an AUC of {found.auc:.2f} +- {found.auc_error:.2f}." in evidence["text"]
    assert evidence["text"] in audit.page()


def test_a_table_without_signal_has_no_suspects_and_says_why():
    frame, _ = shop(n_rows=400)
    frame["churned"] = np.random.default_rng(0).permutation(frame["churned"].to_numpy())
    found = labelcut.audit(frame, label="churned", id="customer", n_jobs=1)
    assert found.issues.empty
    nothing = {"wrong": None, "share": None, "contradicted": 0}
    assert found.summary["estimate"] == nothing | {"labels": 390, "is_known": False}
    assert found.summary["budget"] is None
    assert "wrong labels are expected" not in found.page()
    assert found.summary["unlabeled"]["text"] == "10 unlabeled rows could not be classified."
    assert found.summary["evidence"]["is_there"] is False
    assert found.summary["evidence"]["text"].startswith("No evidence: ")
    assert found.summary["evidence"]["text"] in found.page()
    said = [note for note in found.summary["source"]["notes"] if "no label can be called wrong" in note]
    assert len(said) == 1


def test_too_few_labels_to_look_for_evidence_are_named():
    frame, _ = shop(n_rows=40, n_wrong=2)
    found = labelcut.audit(frame, label="churned", id="customer", n_jobs=1)
    assert found.summary["evidence"]["auc"] is None
    assert found.summary["evidence"]["is_there"] is None
    assert "too few labels to test" in found.page()


def test_many_classes_are_told_by_their_largest_pairs_and_what_is_left_out():
    rng = np.random.default_rng(0)
    kind = np.repeat(np.arange(14), 20)
    place = rng.normal(0, 8, (14, 4))
    frame = pd.DataFrame(place[kind] + rng.normal(0, 1, (280, 4)), columns=list("abcd"))
    given = kind.copy()
    given[::7] = (given[::7] + 1) % 14
    frame["kind"] = [f"kind {k:02d}" for k in given]
    facts = labelcut.audit(frame, label="kind", n_jobs=1).facts
    moves = facts["moves"]
    assert moves["n_classes"] > 10
    assert moves["codes"] == moves["counts"] == []
    sizes = [n for *_, n in moves["pairs"]]
    assert sizes == sorted(sizes, reverse=True)
    assert moves["shown"] == sum(sizes) <= facts["counts"]["suspects"]
    assert len(facts["histogram"]["codes"]) == 8
    assert sorted(facts["colours"]) == [-1] * 6 + list(range(8))


def test_many_rows_are_drawn_by_density():
    rng = np.random.default_rng(0)
    kind = np.arange(6000) % 2
    frame = pd.DataFrame(rng.normal(kind[:, None], 1.0, (6000, 2)), columns=["a", "b"])
    table = make_table(frame.assign(label=np.where(kind, "yes", "no")), label="label")
    shown = np.array([5, 17, 3])
    drawn = draw_map(frame.to_numpy(), np.array([0.5, 0.5]), table, shown)
    cells = np.array(drawn["cells"])
    assert drawn["grid"] == [48, 32]
    assert drawn["x"] == []
    assert cells[:, 2].sum() == 6000
    assert cells[:, 4].sum() == 3
    assert set(cells[cells[:, 4] > 0, 5]) <= {0, 1, 2}
    few = draw_map(
        frame.to_numpy()[:50],
        np.array([0.5, 0.5]),
        make_table(frame.assign(label=np.where(kind, "yes", "no"))[:50], label="label"),
        shown,
    )
    assert few["grid"] is None
    assert [few["suspect"][row] for row in shown] == [0, 1, 2]
