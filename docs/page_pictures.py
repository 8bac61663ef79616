"""Take the picture of cannot-know.md: ``python docs/page_pictures.py`` needs playwright and chromium."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright

import labelcut

HERE = Path(__file__).parent
N_ROWS = 1200


def lottery():
    """People and whether they won: nothing in the columns has to do with it."""
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "height": rng.normal(171, 9, N_ROWS).round(1),
            "shoe size": rng.normal(42, 2, N_ROWS).round(),
            "birth month": rng.integers(1, 13, N_ROWS),
            "colour": rng.choice(["red", "green", "blue", "grey"], N_ROWS),
            "siblings": rng.poisson(1.4, N_ROWS),
            "won": np.where(rng.random(N_ROWS) < 0.15, "yes", "no"),
        }
    )


def main():
    """Audit the table and take a picture of the top of its page."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        lottery().to_csv(Path(folder) / "lottery.csv", index=False)
        labelcut.audit(Path(folder) / "lottery.csv", label="won").save(folder)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1000, "height": 326})
        page.goto((Path(folder) / "report.html").as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        page.screenshot(path=HERE / "cannot-know.png")
        browser.close()


if __name__ == "__main__":
    main()
