"""Hostile names of pictures, hostile notes inside them, hostile and strange texts: shown, never run."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image, PngImagePlugin
from tables import run

SCRIPT = "</script><script>alert(1)</script>"
NAMES = [
    '"><img src=x onerror=alert(1)>.png',
    "a'b`c.png",
    "line\nbreak.png",
    "日本 ☃ \u202e.png",
    "=cmd.png",
]
TEXTS = [
    SCRIPT,
    "<img src=x onerror=alert(1)> ${alert(1)} javascript:alert(1)",
    "שלום עולם, שנה טובה\nمرحبا بالعالم",
    "می\u200cخواهم 👩\u200d👩\u200d👧 \ufffd",
    "(?<=x)[a-z]+*\\",
]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A table whose names, texts and pictures are hostile; some labels are wrong, one text has 1 MB."""
    folder = tmp_path_factory.mktemp("hostile")
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Comment", "CANARY" + SCRIPT)
    for name in NAMES:
        Image.new("RGB", (20, 20), "teal").save(folder / name, pnginfo=notes)
    rng = np.random.default_rng(0)
    code = np.arange(120) % 2
    words = [["refund", "card"], ["parcel", "door"]]
    texts = [f"{rng.choice(words[c])} {TEXTS[i % 5]} row {i}" for i, c in enumerate(code)]
    texts[0] = f"refund {'lorem ipsum ' * 90_000} needle"
    given = np.array(["<b>billing</b>", SCRIPT], dtype=object)[code]
    given[:6] = given[1:7]
    given[0] = None
    x = np.round(rng.normal(6 * code, 1), 3)
    frame = pd.DataFrame({"file": [NAMES[i % 5] for i in range(120)], "letter": texts, "x": x, "y": given})
    frame.to_csv(folder / "t.csv", index=False)
    args = ("--label", "y", "--image", "file", "--text", "letter", "--n-jobs", 1, "--out", folder / "out")
    assert run("audit", folder / "t.csv", *args, "--quiet") == 0
    return folder / "out" / "report.html", frame


def test_hostile_names_notes_and_texts_are_shown_and_not_run(report, open_page):
    file, frame = report
    page_text = file.read_text(encoding="utf-8")
    assert page_text.count("<script") == page_text.count("</script") == 2
    assert "CANARY" not in page_text
    page = open_page(file)  # Which fails on any error, request or dialog.
    page.click("#tab-review")
    names = set()
    for _ in range(8):
        row = int(page.inner_text("#detail h3").removeprefix("Row "))
        names.add(page.locator(".picture figcaption bdi").text_content())
        shown = page.locator(".text.named > .whole > bdi").text_content()
        assert shown == frame["letter"][row - 1]
        assert page.locator(".picture img").count() == 1
        page.keyboard.press("ArrowDown")
    assert len(names) >= 3
    assert page.locator("#detail script, #detail .whole img, #detail a").count() == 0


def test_a_text_of_a_megabyte_is_whole_and_found_to_its_end(report, open_page):
    file, frame = report
    page = open_page(file)
    page.click("#tab-unlabeled")
    page.fill("#search", "needle")
    page.locator(".text.named > .whole .hit").wait_for(state="attached")
    box = page.locator(".text.named > .whole")
    assert len(box.locator("bdi").text_content()) == len(frame["letter"][0]) > 1_000_000
    assert box.locator(".hit").inner_text() == "needle"
    assert box.evaluate("box => box.scrollTop") > 1000
