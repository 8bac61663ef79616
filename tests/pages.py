"""A saved page read again: the facts it carries, and the decisions it saves."""

import json
import re

import pandas as pd


def facts_of(report):
    text = report.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="facts">(.*?)</script>', text, re.S)[1])


def saved(page, tmp_path):
    with page.expect_download() as download:
        page.keyboard.press("s")
    download.value.save_as(tmp_path / "decisions.csv")
    return pd.read_csv(tmp_path / "decisions.csv", dtype=str, keep_default_na=False)
