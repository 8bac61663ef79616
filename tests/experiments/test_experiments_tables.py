"""Tables, figures and the page, from made-up result lines with known answers."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from labelcut.errors import BadTable
from labelcut.experiments import figures, report, result_lines
from labelcut.experiments.chapters import CHAPTERS
from labelcut.experiments.command import experiment
from labelcut.experiments.data import REAL
from labelcut.experiments.lines import Lines, p_values
from labelcut.experiments.printed import printed, reproductions
from labelcut.experiments.reading import reading
from labelcut.experiments.render import Table
from labelcut.experiments.synthetic import synthetic_grid
from labelcut.experiments.tables.ablation import ablation_table
from labelcut.experiments.tables.headline import headline_tables, losses
from labelcut.experiments.tables.noise import confidence_table
from labelcut.experiments.tables.readings import read_readings, readings_table
from labelcut.experiments.tables.runs import failure_table
from labelcut.experiments.tables.scores import losses_table, overall_table, score_table
from labelcut.experiments.tables.seconds import cost_table, time_table
from labelcut.experiments.tables.synthetic import read_synthetic, synthetic_table, synthetic_tables
from labelcut.experiments.tables.told import read_fresh, tell_averages_behind


def line(method, data="vote", noise=0.2, seed=0, test_share=0.3, settings=None, **scores):
    values = {
        "accuracy": 0.9,
        "balanced_accuracy": 0.9,
        "noise_f1": 0.8,
        "average_precision": 0.85,
        "log_loss": 0.3,
    }
    return {
        "method": method,
        "data": data,
        "noise": [noise, noise] if isinstance(noise, float) else noise,
        "test_share": test_share,
        "seed": seed,
        "settings": settings or {},
        "scores": values | scores,
        "seconds": {"total": 2.0},
        "histograms": {
            "reliability": [[10, 0, 10], [1.0, 0, 9.0], [1, 0, 9]],
            "confidence": [[0, 8], [3, 1], [0, 9], [2, 0]],
        },
    }


def test_the_printed_numbers_are_complete_and_corrected():
    facts = printed()
    for score in ("accuracy", "balanced_accuracy", "noise_f1"):
        for noise in ("20", "30"):
            cells = facts["real"][score][noise]["cells"]
            assert list(cells) == list(REAL)
            assert all(set(row) == {"paper", "dividemix", "cl", "coteaching"} for row in cells.values())
            for method, gap in facts["real"][score][noise]["summary"]["all"]["gap"].items():
                best = [max(mean for mean, _ in row.values()) for row in cells.values()]
                own = [row[method][0] for row in cells.values()]
                recomputed = np.mean([100 * (o / b - 1) for o, b in zip(own, best, strict=True)])
                assert gap == pytest.approx(recomputed, abs=0.011)
    assert len(facts["corrections"]) == 7


def test_a_cell_has_mean_deviation_the_best_in_bold_and_the_printed_value():
    records = [line("paper", seed=s, accuracy=a) for s, a in enumerate((0.94, 0.96))]
    records += [line("cl", seed=s, accuracy=a) for s, a in enumerate((0.80, 0.80))]
    table = score_table(Lines(records), "accuracy", "20")
    assert table.head == ("Data", "CHNC (paper)", "Confident Learning")
    # Printed: 95.73 (0.61) and 89.92 (1.31); the second is 9.9 away, more than two brackets.
    assert table.rows[0] == ("Vote, 2 seeds", "**95.0** (1.4) [95.7]", "80.0 (0.0) [89.9]!")
    gap = dict(zip(table.head, table.rows[1], strict=True))
    assert gap["CHNC (paper)"] == "0.00"
    assert float(gap["Confident Learning"]) == pytest.approx(100 * (0.80 / 0.95 - 1), abs=0.01)


def test_other_test_shares_are_not_held_against_the_printed_tables():
    table = score_table(Lines([line("paper", test_share=0.2)], 0.2), "accuracy", "20")
    assert "[" not in table.rows[0][1]


def test_p_values_are_one_sided():
    rng = np.random.default_rng(0)
    base = rng.normal(90, 1, 30)
    better, worse = base + 1 + 0.1 * rng.normal(size=30), base - 1 + 0.1 * rng.normal(size=30)
    assert max(p_values(np.column_stack([better, base]))) < 1e-4
    assert min(p_values(np.column_stack([worse, base]))) > 0.99
    assert p_values(np.ones((30, 2))) == (None, None)


def test_a_cell_is_reproduced_above_or_within_twice_the_combined_error():
    # Vote at 20 %: printed 95.73 with bracket 0.61 over five runs.
    ours = (0.94, 0.96) * 5
    allowed = 2 * np.hypot(0.61 / np.sqrt(5), 100 * np.std(ours, ddof=1) / np.sqrt(10))
    cell = reproductions(Lines([line("paper", seed=s, accuracy=a) for s, a in enumerate(ours)]))[0]
    assert cell.allowed == pytest.approx(allowed)
    assert cell.is_reproduced  # 95.0 is 0.73 below, 0.86 is allowed
    low = reproductions(Lines([line("paper", seed=s, accuracy=a - 0.01) for s, a in enumerate(ours)]))
    assert not low[0].is_reproduced
    high = reproductions(Lines([line("paper", seed=s, accuracy=0.99) for s in range(2)]))
    assert high[0].is_reproduced


def test_overall_gaps_are_taken_on_seeds_that_all_methods_share():
    records = [line("paper", seed=0, accuracy=0.90), line("default", seed=0, accuracy=0.92)]
    records += [line("forest", seed=0, accuracy=0.91), line("paper", seed=1, accuracy=0.10)]
    table = overall_table(Lines(records))
    assert table.rows[0] == ("Accuracy: mean", "90.0", "**92.0**", "91.0")
    assert table.rows[1] == ("- average gap from the best", "2.00", "**0.00**", "1.00")
    small_is_good = next(row for row in table.rows if row[0].startswith("Log-loss"))
    assert small_is_good[1:] == ("**0.300**", "**0.300**", "**0.300**")


def test_losses_name_the_winner_and_the_distance():
    records = [line("default", accuracy=0.90), line("forest", accuracy=0.93), line("cl", accuracy=0.91)]
    assert losses_table(Lines(records), "accuracy").rows == (
        ("Vote", "20", "90.0", "Random forest", "93.0", "3.0", "2 of 2"),
    )


def test_synthetic_improvement_and_wins_beside_the_printed_ones():
    names = [config.name for config in synthetic_grid(1)[:4]]
    records = [line("paper", name, accuracy=0.9) for name in names]
    records += [line("cl", name, accuracy=a) for name, a in zip(names, (0.6, 0.9, 0.9, 1.0), strict=True)]
    row = synthetic_table(records).rows[0]
    mean = np.mean([50, 0, 0, -10])
    assert row[:7] == (
        "20",
        "CHNC (paper)",
        "Confident Learning",
        "4",
        f"{mean:+.2f} [5.23]",
        "25.0 [87.96]",
        "50.0",
    )


def test_the_synthetic_sets_stand_beside_the_printed_numbers_and_are_split_by_parameter():
    one, two = synthetic_grid(1)[:2]
    records = [line("paper", one.name, accuracy=0.9), line("cl", one.name, accuracy=0.8)]
    records += [line("paper", two.name, accuracy=0.7), line("cl", two.name, accuracy=0.7)]
    beside, everyone, by_parameter = synthetic_tables(records)
    assert beside.rows[0][:7] == ("20", "Confident Learning", "2", "+6.25 +- 6.25", "+5.23", "50.0", "88.0")
    assert everyone.name == "synthetic"
    by_name = {row[0]: row[1] for row in by_parameter.rows}
    assert by_name[f"rows {one.n_rows}"] == "+6.2 (50)"
    assert by_name[f"% positive {one.percent_positive}"] in ("+6.2 (50)", "+12.5 (100)")
    told = read_synthetic(records)
    assert told[0] == (
        "CHNC (paper) against Confident Learning: at 20 % +6.2 % on 2 sets, 50 % won (printed +5.2, 88)."
    )
    assert "2 of 540 at 20 %, 0 of 540 at 30 %" in told[1]


def test_a_reading_that_reaches_the_printed_accuracy_is_bold():
    # Printed for Obesity at 20 %: 97.35 (0.8).
    share = {"share_forest": True}
    records = [
        line("paper", "obesity", seed=s, settings=share, accuracy=a) for s, a in enumerate((0.94, 0.95))
    ]
    with_seeds = share | {"confidence_counts": "with_seeds"}
    records += [line("paper", "obesity", seed=s, settings=with_seeds, accuracy=0.98) for s in range(2)]
    table = readings_table(records)
    assert table.head == ("Reading", "Obesity 20 %")
    assert [row[1] for row in table.rows] == ["97.3 (0.8)", "94.5 (0.7)", "**98.0 (0.0)**"]
    told = read_readings(records)
    assert told[0] == '`preset="paper"`: 0 of 1 cells reached; mean 94.5 over 1 cells; not Obesity 20 %.'
    assert told[1].startswith("confidences count the seeds, as printed: 1 of 1 cells reached")
    assert (readings_table([]).rows, read_readings([])) == ((), [])


def test_the_headline_has_ours_first_and_says_where_it_loses():
    records = [line("default", noise=[0.0, 0.3], accuracy=0.95, average_precision=0.7)]
    records += [line("forest", noise=[0.0, 0.3], accuracy=0.9, average_precision=0.8)]
    accuracy, ranking = headline_tables(records)
    assert accuracy.head == ("wrong labels", "30 % of one class")
    assert [row[1] for row in accuracy.rows] == ["**95.0**", "90.0"]
    assert [row[1] for row in ranking.rows] == ["70.0", "**80.0**"]
    assert losses(records) == (
        "Average precision of the ranking: 30 % of one class, 70.0 against 80.0 (Random forest)."
    )
    assert losses(records[:1]) == "Nowhere, on these seeds."
    assert read_fresh(records)[1].startswith(
        "Average precision of the ranking: LabelCut is the best of 2 methods, or level with it, in 0 of 1"
    )
    assert tell_averages_behind({"fresh": records}) == [
        "Fresh seeds: average precision of the ranking 70.0 against 80.0 (Random forest)."
    ]


def test_confidences_are_told_apart_per_class():
    lines = Lines([line("paper", noise=0.3, seed=seed, confidence_auc=0.9) for seed in range(2)])
    (row,) = confidence_table(lines).rows
    # Two bins with middles 0.25 and 0.75; of the wrong negative labels 3 of 4 are in the lower one.
    assert row == ("Vote", "CHNC (paper)", "90.0", "0.75 / 0.25", "0.75 / 0.38")


def test_the_ablation_shows_paired_differences():
    change = {"share_forest": True, "kernel": "literal"}
    records = [line("paper", seed=s, settings={"share_forest": True}, accuracy=0.9) for s in (0, 1)]
    records += [line("paper", seed=s, settings=change, accuracy=a) for s, a in ((0, 0.8), (1, 0.9))]
    rows = ablation_table(records).rows
    assert rows[0][:4] == ("CHNC (paper)", "as it is", "2", "90.00")
    assert rows[1][:4] == ("CHNC (paper)", "kernel=literal", "2", "85.00 (-5.00 +- 5.00)")


def test_variants_and_failures_stay_out_of_the_main_tables():
    failed = line("cl") | {"error": "ValueError in x.py:1: no"}
    del failed["scores"]
    records = [line("paper", settings={"kernel": "literal"}), failed]
    assert Lines(records).methods() == []
    assert failure_table(records).rows[0] == ("Confident Learning", "Vote", "20", "0", failed["error"])


def test_times_stand_beside_the_printed_ones():
    table = time_table(Lines([line("paper"), line("forest")]), "20")
    assert table.rows[0] == ("Vote", "2.00 [1.63]", "2.00")


def test_costs_are_grouped_by_size():
    records = [line("paper", synthetic_grid(1)[0].name), line("paper"), line("cl")]
    table = cost_table(records)
    assert table.head == ("Method", "synthetic 1000", "Vote")
    assert table.rows == (("CHNC (paper)", "2.0", "2.0"), ("Confident Learning", "-", "2.0"))


def test_the_three_formats_hold_the_same_cells():
    table = Table("A 50 % title", ("x_1", "y"), (("a|b", "**1.0**"), ("c & d", "2")), ("note",))
    assert r"| a\|b | **1.0** |" in table.markdown()
    assert r"c \& d & 2 \\" in table.latex()
    assert r"a|b & \textbf{1.0} \\" in table.latex()
    assert r"\caption{A 50 \% title}" in table.latex()
    assert list(csv.reader(io.StringIO(table.csv()))) == [["x_1", "y"], ["a|b", "1.0"], ["c & d", "2"]]


# What it shows, in sentences


def cells(method, accuracy, seeds=range(5), data=("vote", "obesity"), **scores):
    """The same scores in every cell of two data sets and both noise levels."""
    scores = {"noise_f1": 0.6, "average_precision": 0.7} | scores
    return [
        line(method, name, noise, seed, accuracy=accuracy, **scores)
        for name in data
        for noise in (0.2, 0.3)
        for seed in seeds
    ]


def test_the_reading_counts_reproduced_cells_and_names_the_others():
    mean, bracket = printed()["real"]["accuracy"]["20"]["cells"]["vote"]["paper"]
    allowed = mean - 2 * bracket / np.sqrt(5)  # equal runs have no error of their own
    said = reading(Lines(cells("paper", 0.95, data=("vote",))))
    assert said[0] == (
        '`preset="paper"` reproduces 1 of 2 finished accuracy cells '
        "(1 of them at or above the printed value). "
        f"Not reproduced: Vote 20 % (95.0 against {mean:.1f}, allowed {allowed:.1f})."
    )


def test_the_reading_tells_who_is_nearest_to_the_best_and_who_is_ahead_of_labelcut():
    records = cells("default", 0.90) + cells("forest", 0.92) + cells("cl", 0.85)
    said = reading(Lines(records))
    assert said[0] == (
        "Accuracy: over 4 cells the smallest average gap from the best has Random forest (0.00 points), then "
        "LabelCut (2.00), Confident Learning (7.00). Ahead of LabelCut on this measure: Random forest. "
        "LabelCut is the best, or level with it to one digit, in 0 of 4 cells."
    )
    assert said[1].endswith("LabelCut is the best, or level with it to one digit, in 4 of 4 cells.")
    assert "Ahead" not in said[1]


def test_the_reading_holds_labelcut_against_its_close_rivals_run_by_run():
    records = cells("default", 0.90) + cells("forest", 0.92)
    *_, last = reading(Lines(records))
    assert last == (
        "LabelCut against Random forest, 20 paired runs: -2.00 (se 0.00) in accuracy, "
        "+0.00 (se 0.00) in noise f1, +0.00 (se 0.00) in average precision of the ranking. "
        "Runs of one data set are not independent, so read the errors as lower bounds."
    )


@pytest.mark.parametrize("records", [[], cells("hnc", 0.9), cells("forest", 0.9, seeds=[0])])
def test_the_reading_of_few_lines_says_only_what_they_show(records):
    said = reading(Lines(records))
    assert all("LabelCut" not in text and ", then ." not in text for text in said)
    assert len(said) == (3 if records and records[0]["method"] == "forest" else 0)


# Figures


def test_the_critical_difference_is_nemenyis():
    # Demsar (2006): four classifiers on 14 data sets, q = 2.569, CD = 1.25.
    assert figures.critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)


def test_cliques_are_the_longest_spans_within_the_difference():
    spans = figures.cliques(np.array([1.0, 1.5, 2.4, 4.0]), 1.0)
    assert spans == [(1.0, 1.5), (1.5, 2.4)]


def test_ranks_share_ties():
    records = [line(m, accuracy=a) for m, a in (("paper", 0.9), ("default", 0.9), ("forest", 0.8))]
    ranks, n_cells = figures.mean_ranks(Lines(records), "accuracy", ["paper", "default", "forest"], ["20"])
    assert ranks.tolist() == [1.5, 1.5, 3.0]
    assert n_cells == 1


@pytest.fixture
def some_results(tmp_path):
    """A results folder with lines of every kind."""
    results = tmp_path / "results"
    rng = np.random.default_rng(0)

    def keep(study, record):
        result_lines.append_line(results / study / f"{record['method']}.jsonl", record)

    for method in ("paper", "default", "forest", "cl"):
        for data in ("vote", "obesity", "letter"):
            for noise in (0.2, 0.3):
                for seed in range(3):
                    accuracy = float(rng.uniform(0.8, 0.99))
                    keep("accuracy", line(method, data, noise, seed, accuracy=accuracy))
        keep("noise", line(method, "vote", 0.1))
        keep("time", line(method))
        for config in synthetic_grid(1)[:3]:
            keep("synthetic", line(method, config.name, accuracy=float(rng.uniform(0.8, 0.99))))
    keep("ablation", line("paper", settings={"share_forest": True}))
    keep("ablation", line("paper", settings={"share_forest": True, "kernel": "literal"}))
    failed = line("dividemix") | {"error": "ValueError in x.py:1:\n    no\n  " + 100 * "way "}
    del failed["scores"]
    keep("real", failed)
    return results


def test_the_pages_have_every_part_and_say_what_is_open(some_results, tmp_path):
    (some_results / "remarks.md").write_text("A claim.\n\n## synthetic\n\nA word of explanation.\n")
    answer = CliRunner().invoke(
        experiment, ["report", "--results", str(some_results), "--out", str(tmp_path / "docs" / "results.md")]
    )
    assert answer.exit_code == 0, answer.output
    first = (tmp_path / "docs" / "results.md").read_text()
    assert "A claim." in first
    assert "**accuracy** is unfinished: 72 of 1800 runs" in first
    assert "of 6 finished accuracy cells" in first
    pages = {path.stem: path.read_text() for path in (tmp_path / "docs" / "results").iterdir()}
    assert set(pages) == {chapter.study for chapter in CHAPTERS} | {"runs"}
    assert all(f"(results/{name}.md)" in first for name in pages)
    assert "A word of explanation." in pages["synthetic"]
    assert "A word" not in "".join(text for name, text in pages.items() if name != "synthetic")
    assert "## Misprints in the paper" in pages["accuracy"]
    assert "| DivideMix | Vote | 20 | 0 | ValueError in x.py:1: no way way" in pages["runs"]
    assert "way way [...] |" in pages["runs"]
    drawn = ("confidence-vote", "improvement-paper-cl-20", "ranks-accuracy", "reliability", "noise")
    for name, study in zip(drawn, ("confidence", "synthetic", "real", "real", "noise"), strict=True):
        assert f"../figures/{name}.svg" in pages[study]
        assert (tmp_path / "docs" / "figures" / f"{name}.svg").stat().st_size > 1000


def test_a_remark_on_no_study_is_refused(some_results, tmp_path):
    (some_results / "remarks.md").write_text("## sinthetic\n\nA word.\n")
    with pytest.raises(BadTable, match="no study sinthetic; a heading is the name of a study"):
        report.write_report(some_results, tmp_path / "results.md")


def test_the_pages_of_no_lines_say_so(tmp_path):
    answer = CliRunner().invoke(
        experiment, ["report", "--results", str(tmp_path / "none"), "--out", str(tmp_path / "results.md")]
    )
    assert answer.exit_code == 0, answer.output
    assert "## Tables\n\nNone so far." in (tmp_path / "results" / "time.md").read_text()
    assert "No line so far." in (tmp_path / "results.md").read_text()


DOCS = Path(__file__).parents[2] / "docs"
LINES = DOCS.parent / "results"


@pytest.mark.skipif(not LINES.exists(), reason="an sdist has no result lines")
def test_the_pages_of_the_documentation_are_those_of_the_lines():
    figure_names = [name for name in figures.FIGURE_NAMES if (DOCS / "figures" / f"{name}.svg").exists()]
    made = report.pages(report.read_all(LINES), report.remarks_of(LINES), figure_names)
    kept = {"": DOCS / "results.md"} | {path.stem: path for path in (DOCS / "results").glob("*.md")}
    assert set(made) == set(kept)
    stale = [path.name for name, path in kept.items() if path.read_text(encoding="utf-8") != made[name]]
    assert not stale, f"make them again with `labelcut experiment report`: {', '.join(stale)}"


def test_the_same_lines_give_the_same_bytes(some_results, tmp_path):
    pages = []
    for where in ("a", "b"):
        report.write_report(some_results, tmp_path / where / "results.md")
        pages.append({p.name: p.read_bytes() for p in sorted((tmp_path / where).rglob("*.*"))})
    assert pages[0] == pages[1]


@pytest.mark.parametrize(("kind", "ending"), [("markdown", "md"), ("latex", "tex"), ("csv", "csv")])
def test_tables_are_written_in_three_formats(some_results, tmp_path, kind, ending):
    call = ["table", "--results", str(some_results), "--format", kind, "--out", str(tmp_path / "t")]
    answer = CliRunner().invoke(experiment, call)
    assert answer.exit_code == 0, answer.output
    assert (tmp_path / "t" / "accuracy" / f"accuracy-20-30.{ending}").read_text()
    assert (tmp_path / "t" / "synthetic" / f"synthetic.{ending}").read_text()


def test_figures_are_written_as_svg_and_png(some_results, tmp_path):
    answer = CliRunner().invoke(
        experiment, ["figures", "--results", str(some_results), "--out", str(tmp_path / "f")]
    )
    assert answer.exit_code == 0, answer.output
    assert (tmp_path / "f" / "reliability.png").read_bytes()[:4] == b"\x89PNG"
    assert b"<svg" in (tmp_path / "f" / "reliability.svg").read_bytes()


@pytest.mark.parametrize("word", ["table", "figures"])
def test_without_lines_there_is_one_line_of_advice(tmp_path, word):
    answer = CliRunner().invoke(experiment, [word, "--results", str(tmp_path)])
    assert answer.exit_code == 2
    assert "no finished runs in" in answer.output
    assert "labelcut experiment run STUDY" in answer.output


def test_the_packaged_facts_are_plain_json():
    json.dumps(printed(), allow_nan=False)
