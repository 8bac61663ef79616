"""Pictures and texts from end to end: command, page in a real browser, decisions, corrected table."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from media import write_digits, write_docstrings
from pages import facts_of, saved
from PIL import Image
from tables import run

OVERLAPS = (Path(__file__).parent / "overlaps.js").read_text(encoding="utf-8")
WIDTHS = (1440, 1024, 820, 390)


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """Digits as pictures, audited by their pixels; one file is gone, one is cut off."""
    folder = tmp_path_factory.mktemp("digits")
    frame, right, wrong = write_digits(folder)
    (folder / frame["file"][wrong[0]]).unlink()
    broken = folder / frame["file"][wrong[1]]
    broken.write_bytes(broken.read_bytes()[:60])
    args = ("--label", "digit", "--image", "file", "--n-jobs", 1, "--out", folder / "out", "--quiet")
    assert run("audit", folder / "digits.csv", *args) == 0
    return folder, frame, right, wrong


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    frame, right, wrong = write_docstrings(folder / "t.csv")
    args = ("--label", "package", "--text", "text", "--n-jobs", 1, "--out", folder / "out", "--quiet")
    assert run("audit", folder / "t.csv", *args) == 0
    return folder, frame, right, wrong


def cells_changed(before, after):
    """Return the cells that differ between two csv files: row and column to the new value."""
    old, new = (pd.read_csv(file, dtype=str, keep_default_na=False) for file in (before, after))
    assert old.shape == new.shape
    rows, columns = np.nonzero((old != new).to_numpy())
    return {(int(r), new.columns[c]): new.iloc[r, c] for r, c in zip(rows, columns, strict=True)}


def decide_and_apply(page, report, table, column, tmp_path):
    """Flip three suspects, keep one, fill in one unlabeled row; exactly those cells change."""
    facts = facts_of(report)
    suspects, unlabeled, classes = facts["suspects"], facts["unlabeled_rows"], facts["classes"]
    page.click("#tab-review")
    for key in ("f", "f", "k", "f", "u"):
        page.keyboard.press(key)
    page.click("#tab-unlabeled")
    page.keyboard.press("f")
    assert len(saved(page, tmp_path)) == 6
    out = tmp_path / "cleaned.csv"
    assert run("apply", table, tmp_path / "decisions.csv", "--out", out, "--quiet") == 0
    decided = {(suspects["row"][s] - 1, column): classes[suspects["suggested"][s]] for s in (0, 1, 3)}
    decided[unlabeled["row"][0] - 1, column] = classes[unlabeled["suggested"][0]]
    assert cells_changed(table, out) == decided
    return decided


def test_digits_are_reviewed_as_pictures_and_exactly_the_decided_cells_change(digits, open_page, tmp_path):
    folder, _, right, wrong = digits
    report = folder / "out" / "report.html"
    facts = facts_of(report)
    rows = np.array(facts["suspects"]["row"]) - 1
    assert np.isin(rows, wrong).sum() >= 0.8 * len(wrong)
    page = open_page(report, viewport={"width": 1440, "height": 900})
    decided = decide_and_apply(page, report, folder / "digits.csv", "digit", tmp_path)
    assert sum(right[row] == label for (row, _), label in decided.items()) >= 3


def test_the_picture_on_the_card_is_that_of_the_row_and_its_neighbours_stand_beside_it(digits, open_page):
    folder, frame, _, _ = digits
    facts = facts_of(folder / "out" / "report.html")
    page = open_page(folder / "out" / "report.html", viewport={"width": 1440, "height": 900})
    read = """async (image) => { await image.decode(); const canvas = document.createElement("canvas");
        canvas.width = image.naturalWidth; canvas.height = image.naturalHeight;
        const context = canvas.getContext("2d"); context.drawImage(image, 0, 0);
        const data = context.getImageData(0, 0, canvas.width, canvas.height).data;
        return [...data].filter((_, i) => i % 4 === 0); }"""
    shown = next(s for s, at in enumerate(facts["album"]["of"]) if at >= 0)
    page.click("#tab-review")
    for _ in range(shown):
        page.keyboard.press("ArrowDown")

    def expected(row):
        return np.asarray(Image.open(folder / frame["file"][row - 1])).ravel().tolist()

    assert page.locator(".picture img").evaluate(read) == expected(facts["suspects"]["row"][shown])
    assert page.inner_text(".picture figcaption") == frame["file"][facts["suspects"]["row"][shown] - 1]
    near = [place for place, _ in facts["suspects"]["neighbors"][shown]]
    assert page.locator(".thumb").count() == len(near) == 6
    for place, thumb in zip(near, page.locator(".thumb").all(), strict=True):
        label = facts["rows"]["code"][place]
        assert (facts["classes"][label] if label >= 0 else "no label") in thumb.inner_text()
        if facts["album"]["of"][place] >= 0:
            assert thumb.locator("img").evaluate(read) == expected(facts["rows"]["row"][place])
    # Unlabeled rows have theirs, too.
    page.click("#tab-unlabeled")
    s = len(facts["suspects"]["row"])
    assert facts["album"]["of"][s] >= 0
    assert page.locator(".picture img").evaluate(read) == expected(facts["unlabeled_rows"]["row"][0])


def test_pictures_that_are_lost_are_shown_as_lost_and_counted(digits, open_page, capsys):
    folder, _, _, wrong = digits
    facts = facts_of(folder / "out" / "report.html")
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert summary["pictures"] == facts["pictures"]
    assert {name: summary["pictures"][name] for name in ("column", "files", "missing", "unreadable")} == {
        **{"column": "file", "files": 499, "missing": 1, "unreadable": 1},
    }
    also = [finding["text"] for finding in summary["worth_knowing"]]
    assert "1 row has no picture, or one whose file is not there." in also
    assert "1 row has a picture that cannot be shown: broken, too large, or none." in also
    page = open_page(folder / "out" / "report.html")
    assert also[0] in page.inner_text("#card-also")
    for row, reason in ((wrong[0], "the file is not there"), (wrong[1], "the file is broken or cut off")):
        s = facts["suspects"]["row"].index(row + 1)
        page.fill("#search", "") if page.is_visible("#search") else page.click("#tab-review")
        page.keyboard.press("Escape")
        page.focus("#list")
        page.keyboard.press("Home")
        for _ in range(s):
            page.keyboard.press("ArrowDown")
        assert page.inner_text(".picture .frame") == reason


def test_a_click_lays_two_pictures_side_by_side_and_no_key_decides_behind_them(digits, open_page):
    page = open_page(digits[0] / "out" / "report.html", viewport={"width": 1280, "height": 900})
    page.click("#tab-review")
    page.locator(".thumb").nth(2).click()
    assert page.locator("#picture figure").count() == 2
    page.keyboard.press("f")
    assert page.inner_text("#progress-text").startswith("0 of")
    page.keyboard.press("Escape")
    assert not page.is_visible("#picture")
    page.locator(".thumb").nth(1).click()
    page.click("#picture-close")
    page.keyboard.press("f")
    assert page.inner_text("#progress-text").startswith("1 of")


def check_layout(page, where):
    """Nothing lies over anything, and nothing sticks out at the side."""
    assert page.evaluate(OVERLAPS) == [], where
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), where


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_lies_over_anything_and_nothing_jumps_with_pictures(digits, open_page, scheme):
    page = open_page(digits[0] / "out" / "report.html", color_scheme=scheme)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for tab in ("review", "unlabeled", "columns"):
            page.click(f"#tab-{tab}")
            check_layout(page, f"{tab} at {width} px")
        page.click("#tab-review")
        places = []
        for _ in range(6):
            parts = page.locator(".picture > .frame, .thumb .frame, .decide > *")
            places.append([part.bounding_box() for part in parts.all()])
            page.keyboard.press("ArrowDown")
        assert all(place == places[0] for place in places), f"something jumps at {width} px"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_lies_over_anything_with_texts(packages, open_page, scheme):
    page = open_page(packages[0] / "out" / "report.html", color_scheme=scheme)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for tab in ("review", "unlabeled", "columns"):
            page.click(f"#tab-{tab}")
            for _ in range(3 if tab != "columns" else 1):
                check_layout(page, f"{tab} at {width} px")
                page.keyboard.press("ArrowDown")


def test_pictures_and_texts_are_accessible(digits, packages, open_page):
    from axe_playwright_python.sync_playwright import Axe

    for folder in (digits[0], packages[0]):
        for scheme in ("light", "dark"):
            page = open_page(folder / "out" / "report.html", color_scheme=scheme, bypass_csp=True)
            page.click("#tab-review")
            found = Axe().run(page).response
            assert [(rule["id"], rule["nodes"][0]["html"][:120]) for rule in found["violations"]] == []
    page.close()


def test_packages_are_told_by_their_texts_and_exactly_the_decided_cells_change(packages, open_page, tmp_path):
    folder, frame, _, wrong = packages
    report = folder / "out" / "report.html"
    facts = facts_of(report)
    assert len(facts["classes"]) == 20
    assert {column["name"]: column["kind"] for column in facts["columns"]}["text"] == "text"
    rows = np.array(facts["suspects"]["row"]) - 1
    assert np.isin(rows, wrong).sum() >= max(0.5 * len(wrong), 0.8 * len(rows))
    page = open_page(report, viewport={"width": 1440, "height": 900})
    page.click("#tab-review")
    assert page.locator(".text.named .whole").first.inner_text() == frame["text"][rows[0]]
    decide_and_apply(page, report, folder / "t.csv", "package", tmp_path)


def test_telling_words_are_marked_and_the_legend_says_how(packages, open_page):
    folder, frame, _, _ = packages
    report = folder / "out" / "report.html"
    facts = facts_of(report)
    words = facts["suspects"]["words"]
    s = next(
        s for s, some in enumerate(words) if some and {level > 0 for _, level, *_ in some} == {True, False}
    )
    page = open_page(report)
    page.click("#tab-review")
    for _ in range(s):
        page.keyboard.press("ArrowDown")
    box = page.locator(".text.named > .whole")
    assert box.inner_text() == frame["text"][facts["suspects"]["row"][s] - 1]
    marked = {mark.inner_text(): mark.get_attribute("class") for mark in box.locator("mark").all()}
    expected = {spelling: level for spellings, level, *_ in words[s] for spelling in spellings}
    assert set(marked) == set(expected)
    for word, level in expected.items():
        kind = "speaks-for" if level > 0 else "speaks-against"
        assert f"{kind} level-{abs(level)}" in marked[word]
    suggested, given = (facts["classes"][facts["suspects"][part][s]] for part in ("suggested", "given"))
    legend = page.inner_text(".text.named > .legend")
    assert f"speaks for ‘{suggested}’" in legend
    assert f"speaks for ‘{given}’" in legend
    assert "tf-idf weights learned from other rows" in legend
    title = box.locator("mark").first.get_attribute("title")
    assert suggested in title
    assert "% of" in title


def test_what_is_searched_for_is_marked_in_the_text(packages, open_page):
    folder, frame, _, _ = packages
    facts = facts_of(folder / "out" / "report.html")
    text = frame["text"][facts["suspects"]["row"][4] - 1]
    page = open_page(folder / "out" / "report.html")
    page.click("#tab-review")
    page.fill("#search", text[10:30].upper())
    page.locator(".text.named > .whole .hit").first.wait_for()
    assert page.locator(".text.named > .whole .hit").first.inner_text() == text[10:30].strip()
    for special in r"-+*?.(){}[]^$|\/<&'":  # What means something in a pattern is only searched for.
        page.fill("#search", special)
        page.wait_for_timeout(30)
