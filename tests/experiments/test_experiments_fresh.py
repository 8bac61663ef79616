"""The tables of the studies of fresh seeds, from made-up result lines with known answers."""

import numpy as np
import pytest

from labelcut.experiments.conditions import (
    Conditions,
    by_kind,
    by_labeled_share,
    by_noise,
    by_table,
    place_of,
    table_kind_of,
    wilcoxon,
)
from labelcut.experiments.tables.alarms import alarm_tables
from labelcut.experiments.tables.compared import (
    behind_table,
    best_rival_table,
    differences_table,
    means_table,
    tables_table,
)
from labelcut.experiments.tables.expected import expected_table, ours_by_table, promise_table
from labelcut.experiments.tables.fresh import FRESH_STUDIES, fresh_tables, kinds_tables

DATA = ("vote", "breast_cancer", "maternal", "red_wine", "obesity", "letter")


def line(method, data="vote", noise=0.2, seed=200, kind=None, test_share=0.3, **scores):
    shares = [noise, noise] if isinstance(noise, float) else list(noise)
    values = {
        "accuracy": 0.9,
        "noise_f1": 0.8 if sum(shares) else None,
        "average_precision": 0.85 if sum(shares) else None,
        "log_loss": 0.3,
        "wrong_share": float(np.mean(shares)),
        "expected_share": None,
        "review_promised": None,
        "review_found": None,
        "worst_class_flagged": 0.1,
        "says_evidence": None,
    }
    named = {} if kind is None else {"kind": kind}
    return named | {
        "method": method,
        "data": data,
        "noise": shares,
        "test_share": test_share,
        "seed": seed,
        "settings": {},
        "scores": values | scores,
        "seconds": {"total": 1.0},
    }


def test_conditions_stand_in_order_and_one_sided_noise_last():
    levels = [(0.0, 0.3), 0.4, 0.05, 0.0, 0.1]
    found = Conditions.of([line("forest", noise=level) for level in levels], by_noise)
    assert list(found.runs) == ["0 %", "5 %", "10 %", "40 %", "0+30 %"]
    shares = [(0.8, 0.2), (0.99, 0.0), (0.9, 0.0)]
    found = Conditions.of([line("forest", noise=n, test_share=s) for s, n in shares], by_labeled_share)
    assert list(found.runs) == ["1 %", "10 %", "20 %, 20 % wrong"]
    kinds = [("border", 0.2), (None, (0.0, 0.2)), (None, 0.2), (None, 0.0), ("group", 0.2)]
    found = Conditions.of([line("forest", noise=n, kind=kind) for kind, n in kinds], by_kind)
    assert list(found.runs) == ["no noise", "uniform", "one-sided", "near the border", "one bad group"]
    tables = [("logistic-5", 0.05), ("logistic-5", 0.0), ("pure-16", 0.0)]
    found = Conditions.of([line("forest", data, noise=n) for data, n in tables], by_table)
    assert list(found.runs) == [
        "Pure noise, 16 % positive",
        "Logistic truth, 5 % positive",
        "Logistic truth, 5 % positive, 5 % planted",
    ]


def test_tables_are_told_apart_by_their_classes_and_stand_in_the_papers_order():
    names = ["letter26@8000", "adult@rare@8000", "vote"]
    assert [table_kind_of(line("cl", name)) for name in names] == [
        "many classes",
        "rare class",
        "two classes",
    ]
    assert sorted(["letter26", "adult@8000", "vote", "pure-3"], key=place_of) == [
        *("vote", "adult@8000", "letter26", "pure-3"),
    ]


def test_failed_runs_and_variants_are_no_part_of_a_condition():
    failed = line("cl") | {"error": "no"}
    del failed["scores"]
    found = Conditions.of([failed, line("cl") | {"settings": {"n": 1}}, line("forest")], by_noise)
    assert found.methods() == ["forest"]


def test_means_are_of_tables_and_of_tasks_that_all_methods_have_done():
    records = [line("default", accuracy=0.9), line("default", seed=201, accuracy=0.7)]
    records += [line("forest", accuracy=0.8), line("forest", seed=201, accuracy=0.8)]
    records += [line(method, "obesity", accuracy=0.6) for method in ("default", "forest")]
    records += [line("forest", "letter", accuracy=0.1)]  # ours has no such run
    table = means_table(Conditions.of(records, by_noise), "accuracy", "here", "x")
    assert table.head == ("Method", "20 %")
    assert table.rows == (("LabelCut", "**70.0**"), ("Random forest", "**70.0**"))
    assert table.remarks == ("Mean of 2 tables; 3 runs of each method, those that all have done.",)


def test_differences_have_the_tables_as_their_unit():
    gains = dict(zip(DATA, (0.01, 0.02, 0.03, 0.04, 0.05, 0.06), strict=True))
    records = [
        line("default", data, seed=seed, accuracy=0.8 + gain)
        for data, gain in gains.items()
        for seed in (1, 2)
    ]
    records += [line("forest", data, seed=seed, accuracy=0.8) for data in DATA for seed in (1, 2)]
    found = Conditions.of(records, by_noise)
    (row,) = differences_table(found, "accuracy", "here", "x").rows
    # Six tables, all above 0: two of the 64 patterns of signs are as extreme.
    assert row == ("Random forest", "+3.50 (0.031)", "+3.50 (0.031)", "12")
    assert wilcoxon(np.array([1.0, 2.0, 3.0, 4.0])) is None
    (row,) = differences_table(found, "log_loss", "here", "x").rows
    assert row[1] == "+0.000"


def test_where_labelcut_is_behind_the_winner_and_the_distance_are_named():
    records = [line("default", accuracy=0.90, log_loss=0.2), line("forest", accuracy=0.93, log_loss=0.3)]
    records += [line("cl", accuracy=0.91, log_loss=0.1)]
    found = Conditions.of(records, by_noise)
    assert behind_table(found, "here", "x").rows == (
        ("Accuracy", "20 %", "Vote", "90.0", "Random forest", "93.0", "3.0"),
        ("Log-loss on clean test labels", "20 %", "Vote", "0.200", "Confident Learning", "0.100", "0.100"),
    )
    assert behind_table(found, "here", "x").remarks[0].startswith("2 of 4 means")
    assert behind_table(found, "here", "x", by_data=False).rows[0][2] == "all"


def test_the_best_rival_is_chosen_on_the_other_seeds():
    records = [line("default", seed=seed, accuracy=0.9) for seed in (1, 2)]
    records += [line("forest", seed=seed, accuracy=a) for seed, a in ((1, 0.95), (2, 0.80))]
    records += [line("cl", seed=seed, accuracy=a) for seed, a in ((1, 0.70), (2, 0.92))]
    table = best_rival_table(Conditions.of(records, by_noise), "here", "x", ("accuracy",))
    # On seed 1 the choice by seed 2 is cl (0.70), on seed 2 the choice by seed 1 is the forest (0.80).
    assert table.rows == (("Vote", "+15.00"), ("**all**", "+15.00"))


def test_every_table_is_held_against_every_rival():
    levels = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4)
    records = [line("default", noise=n, accuracy=0.80 + 0.01 * i) for i, n in enumerate(levels)]
    records += [line("forest", noise=n, accuracy=0.90) for n in levels]
    (row,) = tables_table(Conditions.of(records, by_noise), "accuracy", "here", "x").rows
    assert row == ("Vote", "-7.50 (0.031)")


def expecting(method, data="vote", seed=200, **scores):
    return line(method, data, seed=seed, review_promised=30.0, review_found=40.0, **scores)


def test_expected_and_promised_are_held_against_the_truth():
    records = [
        expecting("default", seed=1, expected_share=0.25),
        expecting("default", seed=2, expected_share=0.17),
    ]
    records += [line("cl", expected_share=0.3), line("spreading")]
    found = Conditions.of(records, by_noise)
    assert expected_table(found, "here", "x").rows == (
        ("LabelCut", "4.0 (+1.0)"),
        ("Confident Learning", "10.0 (+10.0)"),
    )
    assert promise_table(found, "here", "x").rows == (("LabelCut", "0.75"),)
    expected, promised = ours_by_table(found, "here", "x")
    assert expected.rows == (("Vote", "1.05"),)
    assert promised.rows == (("Vote", "0.75"),)
    clean = Conditions.of([line("default", noise=0.0, expected_share=0.02)], by_noise)
    assert [table.rows for table in ours_by_table(clean, "here", "x")] == [
        (("Vote", "2.0 %"),),
        (("Vote", "-"),),
    ]


def test_false_alarms_are_told_by_table_and_method():
    records = [
        line(
            "default",
            "pure-16",
            0.0,
            seed,
            expected_share=share,
            worst_class_flagged=0.2 * share,
            says_evidence=said,
        )
        for seed, share, said in ((1, 0.1, 0.0), (2, 0.3, 1.0))
    ]
    records += [line("cl", "pure-16", 0.0, 1)]
    expected, flagged, denied = alarm_tables(Conditions.of(records, by_table), "x")
    assert expected.rows == (("Pure noise, 16 % positive", "20.0"),)  # Confident Learning has none here
    assert flagged.rows == (("Pure noise, 16 % positive", "4.0 (6.0)", "10.0 (10.0)"),)
    assert denied.rows == (("Pure noise, 16 % positive", "1 of 2"),)
    assert flagged.remarks[1] == "Runs: LabelCut 2, Confident Learning 1."


@pytest.mark.parametrize("study", FRESH_STUDIES)
def test_every_study_has_tables_from_rivals_alone_and_from_one_line(study):
    data = {"no-signal": "pure-16"}.get(study, "vote")
    for records in ([line("forest", data)], [line("forest", data), line("cl", data)]):
        tables = FRESH_STUDIES[study](records)
        assert tables
        assert all(table.rows for table in tables)
        assert not any("LabelCut" in row[0] for table in tables for row in table.rows)


def test_the_tables_of_a_study_have_names_of_their_own():
    records = [
        line(method, data, noise) for method in ("default", "forest") for data in DATA for noise in (0.0, 0.2)
    ]
    kinds = [record | {"kind": "border"} for record in records if sum(record["noise"])]
    rare = [record | {"data": f"{record['data']}@rare"} for record in records]
    for tables in (fresh_tables(records), kinds_tables(records + kinds + rare)):
        names = [table.name for table in tables]
        assert len(set(names)) == len(names)
        assert any(name.endswith("behind") for name in names)


def test_being_nowhere_behind_is_an_answer():
    records = [line(method, accuracy=a) for method, a in (("default", 0.95), ("forest", 0.9))]
    last = fresh_tables(records)[-1]
    assert (last.name, last.rows) == ("fresh-behind", ())
    assert last.remarks == ("0 of 4 means; in the others it is the best, or level with it.",)
