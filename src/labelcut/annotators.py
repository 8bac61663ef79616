"""Answers out of a table in which every line is one label by one annotator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from labelcut.arrays import Floats
from labelcut.errors import BadTable
from labelcut.hnc.annotators import Answers, p_wrong
from labelcut.hnc.crowd import Crowd, ask_next, quality_table, read_crowd, settle_with
from labelcut.hnc.labels import plain
from labelcut.hnc.own_experts import read_opinions

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Combined", "combine"]

ITEM_NAMES = ("item", "row", "task", "id")
"""What the column of items is called, the first that is there."""


@dataclass(frozen=True, eq=False)
class Combined:
    """The answers, and what each label and annotator is worth.

    Attributes
    ----------
    consensus : DataFrame
        One line per item, sorted: ``consensus``, its ``probability``, ``n_labels``.
    annotator_quality : DataFrame
        One line per annotator, sorted: ``n_labels``, ``quality`` (the share of right labels) and its
        ``standard_error``.
    labels : DataFrame
        The table that was given, with a column ``p_wrong``: the probability that the label is wrong.
    wide : DataFrame
        The labels with one line per item and one column per annotator, as ``ConfidenceHNC.fit`` takes them
        beside an ``X`` with the same lines.
    """

    consensus: pd.DataFrame
    annotator_quality: pd.DataFrame
    labels: pd.DataFrame = field(repr=False)
    wide: pd.DataFrame = field(repr=False)
    _found: tuple[Crowd, Answers] = field(repr=False)

    def ask_next(self, n: int) -> pd.DataFrame:
        """Return the items for which one more label would tell most, and who would tell most.

        Parameters
        ----------
        n : int
            How many items.

        Returns
        -------
        DataFrame
            See :func:`labelcut.hnc.crowd.ask_next`.
        """
        crowd, found = self._found
        return ask_next(crowd, found, n, self.consensus.index)


def combine(table: pd.DataFrame, *, opinions: Mapping[str, pd.DataFrame] | None = None) -> Combined:
    """Return the answers of a crowd, each label worth what its annotator is worth.

    Annotators' worth and the answers are estimated in turn until they agree; :mod:`labelcut.hnc.annotators`
    has the mathematics. Neither the order of the lines nor the names of the annotators matter. Whoever has
    columns to learn from gives :attr:`Combined.wide` to ``ConfidenceHNC.fit``.

    Parameters
    ----------
    table : DataFrame
        One line per label: ``item`` (or ``row``, ``task``, ``id``), ``annotator`` (or ``worker``) and
        ``label``. A missing label is a gap.
    opinions : dict of str to DataFrame, optional
        Probabilities by models that did not see an item's labels: items as index, classes as columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from labelcut.annotators import combine
    >>> said = {"ann": "aabbab", "bob": "aabbab", "cy": "babaab"}
    >>> lines = [(i, who, label) for who, labels in said.items() for i, label in enumerate(labels)]
    >>> crowd = combine(pd.DataFrame(lines, columns=["item", "annotator", "label"]))
    >>> "".join(crowd.consensus["consensus"])
    'aabbab'
    >>> crowd.annotator_quality["quality"].idxmin()
    'cy'
    """
    import pandas as pd

    item, annotator = _column(table, ITEM_NAMES), _column(table, ("annotator", "worker"))
    label = _column(table, ("label",))
    given = table[table[label].notna()]
    for name in (item, annotator):
        if given[name].isna().any():
            raise BadTable(
                f"the column {name!r} has gaps; say of every label what it is about and whose it is."
            )
    if not len(given):
        raise BadTable("no line of the table has a label; give one line per label.")
    pairs = given[[item, annotator]]
    if pairs.duplicated().any():
        twice = pairs[pairs.duplicated()].iloc[0]
        raise BadTable(
            f"the annotator {plain(twice[annotator])!r} gave two labels to {plain(twice[item])!r}; keep "
            f"one of them, such as the last: table.drop_duplicates([{item!r}, {annotator!r}], keep='last')."
        )
    if given[annotator].nunique() < 2:
        raise BadTable(
            f"all labels are by {plain(given[annotator].iloc[0])!r}; two are needed to tell them apart. For "
            "one, use ConfidenceHNC.fit with the columns of the table."
        )
    where, items = pd.factorize(given[item], sort=True)
    who, annotators = pd.factorize(given[annotator], sort=True)
    values = np.full((len(items), len(annotators)), None, dtype=object)
    values[where, who] = given[label].to_numpy(dtype=object)
    wide = pd.DataFrame(
        values, index=pd.Index(items, name=item), columns=pd.Index(annotators, name=annotator)
    )
    crowd = read_crowd(wide, len(wide))
    if crowd.classes.size < 2:
        raise BadTable(f"all labels are {plain(crowd.classes[0])!r}; there is nothing to decide between.")
    found = settle_with(crowd, _by_item(opinions, wide.index, crowd))
    wrong = np.full(len(table), np.nan)
    wrong[table[label].notna().to_numpy()] = p_wrong(crowd.labels, found.probability)[where, who]
    answers = {
        "consensus": crowd.classes[found.probability.argmax(axis=1)],
        "probability": found.probability.max(axis=1),
        "n_labels": np.bincount(where),
    }
    return Combined(
        consensus=pd.DataFrame(answers, index=wide.index),
        annotator_quality=quality_table(crowd, found),
        labels=table.assign(p_wrong=wrong),
        wide=wide,
        _found=(crowd, found),
    )


def _column(table: Any, names: tuple[str, ...]) -> str:
    """Return the first of these names that the table has."""
    columns = list(getattr(table, "columns", ()))
    for name in names:
        if name in columns:
            return name
    raise BadTable(
        f"the table has no column {names[0]!r}; it needs 'item', 'annotator' and 'label', but has "
        f"{', '.join(map(repr, columns)) or 'no columns'}. Rename its columns with table.rename(columns=...)."
    )


def _by_item(
    opinions: Mapping[str, pd.DataFrame] | None, items: pd.Index[Any], crowd: Crowd
) -> dict[str, Floats]:
    """Return the opinions in the order of the items."""
    lined = {}
    for name, opinion in (opinions or {}).items():
        missing = items.difference(getattr(opinion, "index", items[:0]))
        if len(missing):
            raise BadTable(
                f"the opinion {name!r} says nothing about {len(missing)} items, the first of them "
                f"{plain(missing[0])!r}; give a data frame with items as index and classes as columns."
            )
        lined[name] = opinion.loc[items]
    return read_opinions(lined, len(items), crowd.classes)
