"""What an audit says first: one line, and the few sentences below it, on the page and on the screen."""

from __future__ import annotations

from typing import Any

from labelcut.auditing.words import counted, grouped, percent

LIKELY = 0.5  # Suspects that are less often wrong than right do not "look wrong".
MANY = 0.01  # Share of the labels from which those that overlap may hide are told.


def tell_headline(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the headline of an audit.

    Parameters
    ----------
    facts : dict
        With `counts`, `estimate`, `evidence`, `budget`, `unlabeled` and `annotators`.

    Returns
    -------
    dict
        `number` and `title`, which belong together, and `lines`, sentences below them.
    """
    number, title = _title(facts)
    lines = [*_expected(facts), *_contradicted(facts), facts["evidence"]["text"]]
    if facts["annotators"] is not None:
        lines.insert(0, facts["annotators"]["text"])
    if facts.get("experts", {}).get("text"):
        lines.append(facts["experts"]["text"])
    if facts["unlabeled"]["text"]:
        lines.append(facts["unlabeled"]["text"])
    return {"number": number, "title": title, "lines": lines}


def _title(facts: dict[str, Any]) -> tuple[str, str]:
    counts, budget = facts["counts"], facts["budget"]
    if not facts["estimate"]["is_known"]:
        return "No", " label can be called wrong by these columns"
    n = counts["suspects"]
    if not n:
        left_out = counts["left_out"]
        beside = f" beside the {grouped(left_out)} left out" if left_out else ""
        return "No", f" label{beside} looks wrong"
    likely = budget is None or budget["at_flagged"][1] >= LIKELY * n
    one = n == 1
    verb = ("looks wrong" if one else "look wrong") if likely else f"{'is' if one else 'are'} worth a look"
    thing = "label" if facts["annotators"] is None else "agreed label"
    return grouped(n), f" of {counted(counts['labeled'], thing)} {verb}"


def _contradicted(facts: dict[str, Any]) -> list[str]:
    """Return how many labels are contradicted beside the suspects, if that is much more than is expected."""
    estimate = facts["estimate"]
    n, wrong, labels = estimate["contradicted"], estimate["wrong"], estimate["labels"]
    if wrong is None or n < max(MANY * labels, wrong, 1):
        return []
    more = "more " if facts["counts"]["suspects"] else ""
    return [
        f"The columns contradict {grouped(n)} {more}labels ({percent(n / labels)}). Where classes overlap "
        "that is no mistake; if yours do not, it is: audit again with flags side to list them all."
    ]


def _expected(facts: dict[str, Any]) -> list[str]:
    """Return how many labels are wrong, and how many of them a review finds; nothing if nothing is known."""
    estimate, n = facts["estimate"], facts["counts"]["suspects"]
    if not estimate["is_known"]:
        return ["How many are wrong cannot be told from this table."]
    wrong = estimate["wrong"]
    about = f"About {counted(wrong, 'wrong label')} {'is' if round(wrong) == 1 else 'are'} expected"
    if not n and facts["counts"]["left_out"]:
        return [f"{about} in all ({percent(estimate['share'])}), those left out among them."]
    if not n:
        if facts["evidence"]["is_there"] is None:
            return [f"None of {counted(estimate['labels'], 'label')} stands out."]
        if round(wrong) == 0:
            return [f"All {counted(estimate['labels'], 'label')} agree with the rows around them."]
        return [f"{about} among {grouped(estimate['labels'])}, but none stands out enough to be named."]
    if round(wrong) == 0:
        about = "Less than one wrong label is expected"
    about += f" in all ({percent(estimate['share'])})."
    if facts["budget"] is None:
        return [about]
    first, found = facts["budget"]["at_first"]
    which = f"the first {grouped(first)} suspects" if first < n else f"all {grouped(n)} suspects"
    which = "it" if n == 1 else which
    number = f"about {grouped(found)}" if round(found) else "less than one"
    return [f"{about} Reviewing {which} should find {number} of them."]
