"""The review in a real browser: layout, whole cells, comparison, unlabeled rows, many decisions at once."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pages import facts_of, saved
from tables import AUDIT, run, write_shop

from labelcut.auditing.page import render_page

OVERLAPS = (Path(__file__).parent / "overlaps.js").read_text(encoding="utf-8")
WIDTHS = (1440, 1280, 1024, 960, 900, 820, 600, 390)
WORDS = {
    "billing of the customer account": "invoice payment refund charge card bank money price",
    "shipping and delivery to customers": "parcel courier delay address truck box door track",
    "the product itself": "broken screen button battery handle wheel colour smell",
}


def letters(seed=0, n_rows=180):
    """Letters of three topics, 1500 characters each, some labels wrong, some missing."""
    rng = np.random.default_rng(seed)
    topics = np.array(list(WORDS), dtype=object)
    right = topics[np.arange(n_rows) % 3]
    notes = [
        " ".join(rng.choice(WORDS[topic].split(), 230)) + f"\nneedle-{i}." for i, topic in enumerate(right)
    ]
    amount = np.round(rng.normal([{"b": 10, "s": 30, "t": 50}[topic[0]] for topic in right], 3), 2)
    given = right.copy()
    wrong = rng.choice(n_rows, 12, replace=False)
    given[wrong] = topics[(np.arange(n_rows)[wrong] + 1) % 3]
    given[rng.choice(np.setdiff1d(np.arange(n_rows), wrong), 20, replace=False)] = None
    return pd.DataFrame(
        {"letter": notes, "amount": amount, "shop": rng.choice(["n", "s"], n_rows), "topic": given}
    )


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    letters().to_csv(folder / "letters.csv", index=False)
    args = ("--label", "topic", "--n-jobs", 1, "--out", folder / "out", "--quiet")
    assert run("audit", folder / "letters.csv", *args) == 0
    return folder


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Customers, of whom a fifth has no label."""
    folder = tmp_path_factory.mktemp("partly")
    frame, right = write_shop(folder / "shop.csv", n_rows=240, n_wrong=20)
    frame.loc[200:, "churned"] = None
    frame.to_csv(folder / "shop.csv", index=False)
    assert run("audit", folder / "shop.csv", *AUDIT, "--out", folder / "out", "--quiet") == 0
    return folder, right


def test_nothing_lies_over_anything_at_eight_widths(texts, shop, open_page):
    for report in (texts / "out" / "report.html", shop[0] / "out" / "report.html"):
        page = open_page(report, viewport={"width": 1440, "height": 900})
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            for tab in ("overview", "review", "unlabeled", "columns"):
                page.click(f"#tab-{tab}")
                page.wait_for_timeout(130)  # Charts are drawn again when the resizing has stopped.
                where = f"{tab} at {width} px"
                assert page.evaluate(OVERLAPS) == [], where
                fits = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
                assert fits, f"{where} is too wide"


def test_a_long_cell_is_read_and_found_whole(texts, open_page):
    report = texts / "out" / "report.html"
    facts = facts_of(report)
    frame = letters()
    page = open_page(report)
    page.click("#tab-review")
    letter = frame["letter"][facts["suspects"]["row"][0] - 1]
    assert len(letter) > 1000
    box = page.locator("#detail .text .whole").first
    assert box.inner_text() == letter
    box.focus()  # By the keyboard it can be reached and moved.
    page.keyboard.press("End")
    page.wait_for_timeout(200)
    assert box.evaluate("element => element.scrollTop") > 0
    page.locator("#detail .text summary").click()
    near = page.locator("#detail .text details .whole")
    assert near.count() == len(facts["suspects"]["neighbors"][0])
    place = facts["suspects"]["neighbors"][0][0][0]
    assert near.first.inner_text() == frame["letter"][facts["rows"]["row"][place] - 1]
    # The search sees the last word of a letter.
    row = facts["suspects"]["row"][3]
    page.fill("#search", f"needle-{row - 1}.")
    page.locator("#list-text", has_text="1 of").wait_for()
    assert page.inner_text("#detail h3") == f"Row {row}"


def test_a_row_is_held_beside_its_nearest_rows_and_their_differences_are_marked(shop, open_page):
    folder, _ = shop
    report = folder / "out" / "report.html"
    facts = facts_of(report)
    suspects, columns = facts["suspects"], [column["name"] for column in facts["columns"]]
    bits = [bin(int("1" + digits, 16))[3:] for digits in suspects["unlike"][0]]
    page = open_page(report, viewport={"width": 1440, "height": 900})
    page.click("#tab-review")
    near = [place for place, _ in suspects["neighbors"][0]]
    assert page.locator(".near button").count() == len(near)
    head = page.locator(".beside thead th").all_inner_texts()
    assert [text.split("\n")[0].split(" ")[0] for text in head[2:]] == [
        facts["rows"]["id"][r] for r in near[:3]
    ]
    for line in page.locator(".beside tbody tr").all():
        name = line.locator("th").inner_text()
        j = columns.index(name)
        if j not in facts["marked"]:
            continue
        expected = [b[facts["marked"].index(j)] == "1" for b in bits[:3]]
        found = ["differs" in (cell.get_attribute("class") or "") for cell in line.locator("td").all()[1:]]
        assert found == expected, name
    page.locator(".near button").nth(4).click()  # Another one comes to the front.
    assert facts["rows"]["id"][near[4]] in page.locator(".beside thead th").nth(2).inner_text()
    page.keyboard.press("c")
    assert "typical" in page.inner_text(".beside thead")
    assert "usual for ‘" in page.inner_text(".beside")
    opened = [s for s, some in enumerate(suspects["neighbors"]) if some[0][0] < len(suspects["row"])]
    if opened:
        page.keyboard.press("c")
        page.keyboard.press("Home")
        for _ in range(opened[0]):
            page.keyboard.press("ArrowDown")
        page.locator(".beside thead .link").first.click()
        assert suspects["id"][suspects["neighbors"][opened[0]][0][0]] in page.inner_text("#detail h3")


def test_buttons_neither_move_nor_wrap(texts, open_page):
    page = open_page(texts / "out" / "report.html")
    page.click("#tab-review")
    boxes = []
    for key in ("ArrowDown", "f", "z", "ArrowDown", "k", "ArrowUp"):
        page.keyboard.press(key)
        boxes.append([button.bounding_box() for button in page.locator(".decide > *").all()])
    assert all(box == boxes[0] for box in boxes)
    assert len({box["y"] for box in boxes[0]}) == 1


def test_unlabeled_rows_and_decisions_together_flow_back_into_table_and_audit(shop, open_page, tmp_path):
    folder, _ = shop
    report = folder / "out" / "report.html"
    facts = facts_of(report)
    suspects, unlabeled = facts["suspects"], facts["unlabeled_rows"]
    n, m = len(suspects["row"]), len(unlabeled["row"])
    page = open_page(report)
    save = page.locator("#save")
    assert "primary" not in (save.get_attribute("class") or "")
    page.keyboard.press("Enter")  # Starts the review.
    assert page.get_attribute("#tab-review", "aria-selected") == "true"
    # All suspects given as ‘yes’, together; undone; and again.
    page.select_option("#filter-given", "1")
    yes = [s for s in range(n) if suspects["given"][s] == 1]
    page.click("#bulk summary")
    assert page.inner_text("#bulk-text") == f"Decide the {len(yes)} found together"
    page.click("#bulk-buttons .flip")
    assert page.inner_text("#progress-text") == f"{len(yes)} of {n} reviewed"
    assert "primary" in save.get_attribute("class")
    page.click("#toast-undo")
    assert page.inner_text("#progress-text") == f"0 of {n} reviewed"
    page.click("#bulk-buttons .flip")
    page.select_option("#filter-given", "")
    # Two selected rows, kept together.
    page.select_option("#filter-status", "open")
    page.focus("#list")
    page.keyboard.press("Home")
    page.keyboard.press("x")
    page.keyboard.press("Shift+ArrowDown")
    assert page.inner_text("#bulk-text") == "Decide the 2 selected together"
    page.click("#bulk-buttons .keep")
    kept = [s for s in range(n) if suspects["given"][s] != 1][:2]
    # Unlabeled rows: the least sure is left empty, the next one gets another class, the third its own.
    page.click("#tab-unlabeled")
    assert page.inner_text("#progress-text") == f"0 of {m} reviewed"
    assert unlabeled["sure"] == sorted(unlabeled["sure"])
    assert unlabeled["id"][0] in page.inner_text("#detail h3")
    page.keyboard.press("k")  # There is no label to keep.
    page.keyboard.press("u")
    other = 1 - unlabeled["suggested"][1]
    page.select_option(".decide select", str(other))
    page.keyboard.press("f")
    assert page.inner_text("#progress-text") == f"3 of {m} reviewed"

    decisions = saved(page, tmp_path).set_index("id")
    classes = facts["classes"]
    assert len(decisions) == len(yes) + 2 + 3
    assert (decisions.loc[[suspects["id"][s] for s in yes], "label"] == "no").all()
    assert (decisions.loc[[suspects["id"][s] for s in kept], "decision"] == "keep").all()
    told = decisions.loc[unlabeled["id"][:3], ["given_label", "decision", "label"]].to_numpy().tolist()
    assert told == [
        ["", "unsure", ""],
        ["", "flip", classes[other]],
        ["", "flip", classes[unlabeled["suggested"][2]]],
    ]
    assert "primary" not in save.get_attribute("class")

    table, out = folder / "shop.csv", tmp_path / "cleaned.csv"
    assert run("apply", table, tmp_path / "decisions.csv", "--fill-unlabeled", "--out", out, "--quiet") == 0
    before, after = (pd.read_csv(file, keep_default_na=False).set_index("customer") for file in (table, out))
    assert (before.drop(columns="churned") == after.drop(columns="churned")).all(axis=None)
    assert after["churned"][unlabeled["id"][0]] == ""
    assert after["churned"][unlabeled["id"][1]] == classes[other]
    changed = before.index[(before["churned"] != after["churned"]) & (before["churned"] != "")]
    assert sorted(changed) == sorted(suspects["id"][s] for s in yes)
    assert (after["churned"] == "").sum() < m / 2

    args = ("--decisions", tmp_path / "decisions.csv", "--out", tmp_path / "second", "--quiet")
    assert run("audit", table, *AUDIT, *args) == 0
    summary = json.loads((tmp_path / "second" / "summary.json").read_text())
    assert summary["counts"]["reviewed"] == len(yes) + 2 + 2
    assert summary["counts"]["unsure"] == 1
    assert summary["unlabeled"]["rows"] == m - 2
    assert summary["conflicts"] == []
    # The row left empty is open again, and known to be left so.
    again = open_page(tmp_path / "second" / "report.html")
    again.click("#tab-unlabeled")
    assert again.inner_text("#progress-text") == f"1 of {m - 2} reviewed"


def test_the_last_suspect_is_followed_by_what_comes_next(shop, open_page):
    folder, _ = shop
    page = open_page(folder / "out" / "report.html")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#tab-review")
    n = int(page.inner_text("#tab-count"))
    page.keyboard.press("End")
    page.keyboard.press("u")
    assert page.inner_text("#detail h3") == "The end of this list"
    assert f"{n - 1} rows still open." in page.inner_text("#detail")
    page.click("text=Show the open ones")
    for _ in range(n - 1):
        page.keyboard.press("f")
    assert page.inner_text("#detail h3") == "Done"
    assert f"{n} suspects reviewed: {n - 1} flipped, 0 kept, 1 unsure." in page.inner_text("#detail")
    commands = page.locator("#detail .command code").all_inner_texts()
    assert commands[0] == "labelcut apply shop.csv decisions.csv --out cleaned.csv"
    assert commands[1] == commands[0] + " --fill-unlabeled"
    assert commands[2] == (
        "labelcut audit shop.csv --label churned --id customer --group clerk --decisions decisions.csv"
    )
    page.locator("#detail .command button").first.click()
    page.locator("#toast", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == commands[0]
    page.keyboard.press("f")  # Decides nothing: no row is shown.
    page.click("text=Go to the unlabeled rows")
    assert page.get_attribute("#tab-unlabeled", "aria-selected") == "true"


def test_a_question_mark_shows_the_keys(shop, open_page):
    page = open_page(shop[0] / "out" / "report.html")
    page.keyboard.press("?")
    assert "flip to the suggested label" in page.inner_text("#keys")
    page.keyboard.press("f")  # Nothing is decided behind it.
    page.keyboard.press("Escape")
    assert not page.is_visible("#keys")
    assert page.inner_text("#progress-text").startswith("0 of")


def test_on_a_phone_the_buttons_are_at_hand_and_the_filters_folded(shop, open_page):
    page = open_page(shop[0] / "out" / "report.html", viewport={"width": 390, "height": 844}, has_touch=True)
    page.tap("#tab-review")
    for button in page.locator(".decide button").all():
        box = button.bounding_box()
        assert box["y"] + box["height"] <= 844
        assert box["height"] >= 44
    assert not page.is_visible("#filter-status")
    page.tap("#fold")
    assert page.is_visible("#filter-status")
    page.tap(".decide .flip")
    assert page.inner_text("#progress-text").startswith("1 of")


def test_where_nothing_can_be_stored_the_page_says_so(shop, open_page, tmp_path):
    from html import escape

    inner = (shop[0] / "out" / "report.html").read_text(encoding="utf-8")
    frame = f'<iframe srcdoc="{escape(inner, quote=True)}" sandbox="allow-scripts allow-downloads"'
    (tmp_path / "notebook.html").write_text(f'{frame} width="1200" height="900"></iframe>', encoding="utf-8")
    page = open_page(tmp_path / "notebook.html", ready=False)
    report = page.frame_locator("iframe")
    report.locator("html[data-ready=yes]").wait_for(state="attached")
    report.locator("#tab-review").click()
    assert not report.locator("#no-store").is_visible()
    report.locator(".decide .flip").click()
    assert "save your decisions before you leave" in report.locator("#no-store").inner_text()


def test_ninety_classes_and_many_suspects_are_drawn_by_count_and_density(shop, open_page, tmp_path):
    facts = facts_of(shop[0] / "out" / "report.html")
    names = [f"class {c}" for c in range(90)]
    facts["classes"] = names
    facts["colours"] = [*range(8), *[-1] * 82]
    facts["by_class"] = [{"name": name, "labeled": 5, "suspects": 1, "wrong": 1.0} for name in names]
    facts["moves"] = {
        "codes": [],
        "counts": [],
        "pairs": [[0, 1, 20 - c] for c in range(12)],
        "shown": 174,
        "n_classes": 90,
        "n_pairs": 2500,
    }
    facts["counts"]["suspects"] = 3000
    facts["histogram"] |= {name: facts["histogram"][name] * 4 for name in ("all", "suspect")}
    facts["histogram"]["codes"] = list(range(8))
    cells = [[c % 48, c // 48, 1 + c % 7, c % 90, c % 3, c % 20 if c % 3 else -1] for c in range(48 * 32)]
    facts["map"] = {"x": [], "y": [], "code": [], "suspect": [], "grid": [48, 32], "cells": cells}
    facts["typical"] = [None] * len(facts["columns"])
    (tmp_path / "many.html").write_text(render_page(facts), encoding="utf-8")
    page = open_page(tmp_path / "many.html", viewport={"width": 1280, "height": 1400})
    said = "The 12 largest of 2\u202f500 pairs of 90 labels: 174 of 3\u202f000 suspects."
    assert said in page.inner_text("#card-moves")
    assert page.locator("#moves .pair").count() == 12
    assert "The 8 of 90 classes with most suspects" in page.inner_text("#card-confidence")
    assert "82 others" in page.inner_text("#map-legend")
    box = page.locator("#map").bounding_box()
    place = 10 + (box["width"] - 20) / 48 * 1.5, 10 + (box["height"] - 20) / 32 * 0.5  # The second cell.
    page.mouse.click(box["x"] + place[0], box["y"] + place[1])
    assert facts["suspects"]["id"][1] in page.inner_text("#detail h3")


def test_every_state_of_the_review_is_accessible(texts, open_page):
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(texts / "out" / "report.html", viewport={"width": 960, "height": 900}, bypass_csp=True)

    def check(state):
        violations = Axe().run(page).response["violations"]
        assert [(rule["id"], rule["nodes"][0]["html"][:120]) for rule in violations] == [], state

    page.click("#tab-review")
    page.keyboard.press("x")
    page.click("#bulk summary")
    for summary in page.locator("#detail summary").all():
        summary.click()
    check("long texts, a selected row, all unfolded")
    page.keyboard.press("c")
    check("typical values")
    page.keyboard.press("?")
    check("the keys")
    page.keyboard.press("Escape")
    page.click("#bulk-buttons button:last-child")  # Selects none.
    page.click("#bulk-buttons .flip")
    check("the end")
