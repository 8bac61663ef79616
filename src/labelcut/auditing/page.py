"""Facts -> one HTML page that needs nothing but itself.

The page carries the facts as JSON and draws them with its own script. Its Content-Security-Policy names the
hashes of exactly that script and style, so nothing that a table might smuggle in can run or call home.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from labelcut.auditing.words import grouped, percent

TEMPLATES = Path(__file__).parent / "templates"
SCRIPTS = (
    *("base.js", "decisions.js", "charts.js", "queue.js", "compare.js", "texts.js", "pictures.js"),
    *("annotators.js", "card.js", "flow.js", "main.js"),
)
STYLES = ("page.css", "annotators.css")
FIRST = 30  # Suspects that go on paper.


def render_page(facts: dict[str, Any]) -> str:
    """Return the page as text.

    Parameters
    ----------
    facts : dict
        As `labelcut.auditing.facts.gather_facts` makes it.

    Returns
    -------
    str
        HTML with everything inlined.
    """
    style, script = _inlined()
    return _template().render(
        facts=facts,
        how_read=_how_read(facts),
        first=_first(facts),
        data=Markup(safe_json(facts)),  # noqa: S704 (escaped by safe_json)
        style=Markup(style),  # noqa: S704 (our own file)
        script=Markup(script),  # noqa: S704 (our own files)
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def safe_json(facts: dict[str, Any]) -> str:
    """Return JSON that cannot end the script element it stands in."""
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "replace").decode()


@cache
def _inlined() -> tuple[str, str]:
    style = "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in STYLES)
    scripts = [(TEMPLATES / name).read_text(encoding="utf-8") for name in SCRIPTS]
    return style, '"use strict";\n{\n' + "\n".join(scripts) + "}\n"


@cache
def _template() -> jinja2.Template:
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters["number"] = grouped
    environment.filters["percent"] = percent
    return environment.get_template("page.html")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _how_read(facts: dict[str, Any]) -> str:
    source, counts = facts["source"], facts["counts"]
    detail = ", ".join(part for part in (source["format"], source["delimiter"], source["encoding"]) if part)
    text = f"Read from {source['name']} ({detail}): {grouped(counts['rows_in_file'])} rows."
    if counts["rows"] < counts["rows_in_file"]:
        text += f" A random sample of {grouped(counts['rows'])} of them was audited, as asked."
    if counts["no_evidence"]:
        text += f" For {grouped(counts['no_evidence'])} rows there is no evidence either way."
    return text


def _first(facts: dict[str, Any]) -> list[dict[str, Any]]:
    suspects, classes = facts["suspects"], facts["classes"]
    return [
        {
            "id": suspects["id"][s],
            "given": classes[suspects["given"][s]],
            "suggested": classes[suspects["suggested"][s]],
            "wrong": suspects["wrong"][s],
            "reason": suspects["reason"][s],
        }
        for s in range(min(FIRST, len(suspects["row"])))
    ]
