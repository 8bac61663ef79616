"""Csv files as the world writes them, drawn at random: every habit that can move a cell or a row."""

import codecs
from dataclasses import dataclass
from functools import cache

import numpy as np

ENCODINGS = (
    *("utf-8", "utf-8-sig", "bad utf-8", "ascii", "cp1252", "latin-1", "cp037", "utf-7"),
    *("utf-16", "utf-16-be with mark", "utf-16-le", "utf-32", "utf-32-be"),
    *("shift_jis", "cp932", "gbk", "gb18030", "big5", "big5hkscs", "euc-jp", "euc-kr", "johab"),
    *("hz", "iso2022_jp", "iso2022_jp_2", "iso2022_kr"),
)
DELIMITERS = (",", ";", "\t", "|", " ", "~", "{")


@dataclass(frozen=True)
class CsvFile:
    """The bytes of a table and how they have to be read; `labels` can be written in its encoding."""

    content: bytes
    encoding: str
    delimiter: str
    has_header: bool
    label_column: int
    labels: tuple[str, ...]


@cache
def letters(encoding):
    """Return letters of an encoding, those first whose bytes hold a delimiter, a quote or a line end."""
    if encoding in ("ascii", "cp037"):
        return list("aàz" if encoding == "cp037" else "abz")
    if encoding in ("cp1252", "latin-1"):
        return list("äéß¬")
    if encoding.startswith("utf"):
        return list("äポ表能Ċ✓\u0a0d𝒳")  # Ċ is 0A 01 in UTF-16, U+0A0D is 0D 0A.
    special, plain = [], []
    for code in [*range(0x3041, 0x30FE), *range(0x4E00, 0x9FA0, 7), *range(0xAC00, 0xD7A0, 31)]:
        try:
            written = chr(code).encode(encoding)
        except UnicodeEncodeError:
            continue
        (special if set(written) & set(b',;|"~{\\') else plain).append(chr(code))
    return [*special[:40], *plain[:10]]


def draw_file(seed):
    """Return one table of two to six columns and two to twelve rows."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(ENCODINGS))
    encoding = {"bad utf-8": "utf-8", "utf-16-be with mark": "utf-16"}.get(kind, kind)
    delimiter = str(rng.choice(DELIMITERS, p=[0.35, 0.15, 0.1, 0.25, 0.05, 0.05, 0.05]))
    draw = _Drawer(rng, letters(encoding), delimiter)
    n_columns, n_rows = int(rng.integers(2, 7)), int(rng.integers(3, 13))
    column = int(rng.integers(n_columns))
    has_header = bool(rng.random() < 0.9 or delimiter == " ")  # Spaces in a row would hide empty cells.
    rows = [[draw.cell() for _ in range(n_columns)] for _ in range(n_rows)]
    labels = tuple(draw.label(k) for k in range(3))
    for i, row in enumerate(rows):
        row[column] = (
            "" if rng.random() < 0.1 and i > 1 else draw.written(labels[i if i < 2 else rng.integers(2)])
        )
    if has_header:
        rows.insert(0, [draw.name(j) for j in range(n_columns)])
    text = draw.joined(rows, has_header)
    content = _with_marks(text, kind, encoding, rng)
    return CsvFile(content, encoding, delimiter, has_header, column, labels)


def _with_marks(text, kind, encoding, rng):
    """Encode, with byte-order marks and bytes that are no characters where the kind has them."""
    if kind == "bad utf-8":
        return text.replace("ä", "\udce4").encode("utf-8", "surrogateescape")
    if kind == "utf-16-be with mark":
        return codecs.BOM_UTF16_BE + text.encode("utf-16-be")
    if kind in ("utf-8", "utf-16-le", "utf-32-be", "gb18030") and rng.random() < 0.3:
        text = "\ufeff" + text
    return text.encode(encoding)


class _Drawer:
    """Draws the parts of one file; its habits (line ends, trailing delimiters) are its own."""

    def __init__(self, rng, letters, delimiter):
        self.rng, self.letters, self.delimiter = rng, letters, delimiter
        self.ends = [["\n"], ["\r\n"], ["\r"], ["\n", "\r", "\r\n"]][rng.choice(4, p=[0.3, 0.3, 0.15, 0.25])]
        if delimiter == " ":  # Behind a lone CR pandas does not skip the spaces that it skips elsewhere.
            self.ends = [end for end in self.ends if end != "\r"] or ["\n"]
        self.trailing = [0.0, 1.0, 0.5][rng.choice(3, p=[0.7, 0.2, 0.1])]
        self.blank_lines = 0.3 * (rng.random() < 0.4)
        self.short_rows = 0.2 * (rng.random() < 0.3)
        self.long_rows = 0.1 * (rng.random() < 0.05)

    def one_of(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def word(self):
        return "".join(self.rng.choice([*self.letters, "a", "b"], self.rng.integers(1, 4)))

    def cell(self):
        """Return a cell as it stands in the file."""
        word, end = self.word(), self.one_of(*self.ends)
        plain = (str(self.rng.integers(100)), f"{self.rng.normal():.2f}", word, "", "NA", f" {word} ")
        odd = (
            f'5" {word}',
            f"'{word}'",
            f"# {word}",
            f"% {word}",
            "\\",
            f"\t{word}",
            f'{word}"',
            f'\t"{word}"',
        )
        inside = (f"{word}{self.delimiter}x", f"{word}{end}{word}", f"{end}", f"say {word}", "", '"', " # ")
        text = self.one_of(*inside).replace('"', '""')
        weird = (f'"{text}"x', f'"{text}" ', f' "{text}"', f'"{text}"{word}"{word}')
        return self.one_of(self.one_of(*plain), self.one_of(*plain), f'"{text}"', self.one_of(*odd, *weird))

    def name(self, j):
        if self.delimiter == " ":  # Where an empty name would not count.
            return f"c{j}"
        return self.one_of(
            f"c{j}", f"c{j}", "x", "", f'"{self.word()}{self.delimiter}{j}"', f" {self.word()}"
        )

    def label(self, k):
        """Return a label: plain, of odd letters, or with what has to be quoted."""
        word = self.word()
        odd = (
            f"{k}{self.delimiter}{word}",
            f'{word}"{k}',
            f'"{k}"',
            f"{k}\n{word}",
            f"#{k}",
            f"={k}",
            f"'={k}",
        )
        return self.one_of(f"l{k}", f"{word}{k}", str(k), self.one_of(*odd)).strip()

    def written(self, label):
        """Return a label as a cell, with quotes where they are needed or as a habit."""
        needs = any(mark in label for mark in (self.delimiter, '"', "\n", " "))
        text = '"' + label.replace('"', '""') + '"' if needs or self.rng.random() < 0.3 else label
        return self.one_of("", "", "", " ") + text + self.one_of("", "", "", " ")

    def joined(self, rows, has_header):
        """Return the text: rows of a few lengths, ended in a few ways, with blank lines between."""
        parts = []
        for i, row in enumerate(rows):
            # pandas itself loses a delimiter that follows a blank line ended by a lone CR.
            ends = [end for end in self.ends if end != "\r" or row[0]]
            while ends and self.rng.random() < self.blank_lines:
                parts.append(self.one_of("", " ", "\t ").replace(self.delimiter, "") + self.one_of(*ends))
            is_header = has_header and i == 0
            if i > 0 and self.rng.random() < self.short_rows:
                row = row[: self.rng.integers(1, len(row) + 1)]
            if not is_header and self.rng.random() < self.long_rows:
                row = [*row, "more"]
            tail = self.delimiter if self.rng.random() < self.trailing and not is_header else ""
            body = self.delimiter.join(row) + tail
            # A row cut down to one empty cell is a blank line too.
            ends = self.ends if body.strip() else [end for end in self.ends if end != "\r"] or ["\n"]
            end = "" if i == len(rows) - 1 and self.rng.random() < 0.3 else self.one_of(*ends)
            parts.append(body + end)
        return "".join(parts)
