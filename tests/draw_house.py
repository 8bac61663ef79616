"""Draw the house from its imports: `python tests/draw_house.py docs/house.svg`.

A box per room with its files, an arrow from each room to those it imports. tests/test_house.py fails when the
picture is not the one that the imports give, so it cannot lie.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "labelcut"

#: The place of each room: column and row of a grid. What is known to all stands above.
PLACES: dict[str, tuple[int, float]] = {
    "cut": (0, 1),
    "graph": (1, 1),
    "table": (2, 1),
    "hnc": (0, 2),
    "auditing": (2, 2),
    "cli": (2, 3),
    "large": (1, 3.05),
    "experiments": (0, 3),
    "model_selection": (1, 2.7),
    "annotators": (1, 2.35),
}
WIDTH, LINE, GAP, ROW_HEIGHT = 300, 16, 60, 230


def room(name: str) -> str:
    """Return the room of a module given by its dotted name."""
    return name.split(".")[1]


def module_name(path: Path) -> str:
    """Return the dotted name of a file."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(path: Path, modules: set[str]) -> set[str]:
    """Return the modules of the package that a file imports anywhere, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import; write the full name"
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return (found & modules) - {"labelcut", module_name(path)}


def direct_imports() -> dict[str, set[str]]:
    """Map every module to those it imports itself; the two front doors, package and command, are left out."""
    files = {module_name(path): path for path in SOURCE.rglob("*.py")}
    found = {name: imported_modules(path, set(files)) for name, path in files.items()}
    del found["labelcut"], found["labelcut.__main__"]
    return found


def draw() -> str:
    """Return the picture as text."""
    direct = direct_imports()
    files: dict[str, list[str]] = {}
    for name in sorted(direct):
        files.setdefault(room(name), []).append(".".join(name.split(".")[2:]))
    known_to_all = sorted(set(files) - set(PLACES))
    arrows = sorted(
        {(room(a), room(b)) for a, others in direct.items() for b in others if room(a) != room(b)}
    )
    width = 3 * (WIDTH + GAP) + GAP
    height = 3 * ROW_HEIGHT + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
        "<style>.box{fill:#f6f8fa;stroke:#57606a}.room{font-weight:bold;font-size:15px;fill:#1f2328}"
        ".file{font-size:12px;fill:#424a53}.way{stroke:#0969da;stroke-width:1.5;fill:none}</style>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path d="M0 0L8 4L0 8z" fill="#0969da"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text class="room" x="{GAP}" y="40">known to all rooms: {", ".join(known_to_all)}</text>',
    ]
    shown = {name: _columns(names) for name, names in files.items() if name in PLACES}
    for start, end in arrows:
        if start in PLACES and end in PLACES:
            parts.append(_arrow(start, end, shown))
    parts += [_box(name, shown[name]) for name in PLACES]
    return "\n".join([*parts, "</svg>", ""])


def _columns(names: list[str]) -> list[str]:
    """Return the files of a room in lines that fit its box."""
    names = sorted({name.split(".")[0] if name.count(".") else name for name in names} - {""})
    lines: list[str] = []
    for name in names:
        if lines and len(lines[-1]) + len(name) < 40:
            lines[-1] += f", {name}"
        else:
            lines.append(name)
    return lines


def _corner(name: str) -> tuple[int, int]:
    column, row = PLACES[name]
    return GAP + column * (WIDTH + GAP), int(80 + (row - 1) * ROW_HEIGHT)


def _height(lines: list[str]) -> int:
    return 40 + LINE * len(lines)


def _box(name: str, lines: list[str]) -> str:
    x, y = _corner(name)
    texts = [f'<text class="room" x="{x + 12}" y="{y + 24}">{name}</text>']
    texts += [
        f'<text class="file" x="{x + 12}" y="{y + 44 + LINE * i}">{line}</text>'
        for i, line in enumerate(lines)
    ]
    return f'<rect class="box" x="{x}" y="{y}" width="{WIDTH}" height="{_height(lines)}" rx="8"/>' + "".join(
        texts
    )


def _arrow(start: str, end: str, shown: dict[str, list[str]]) -> str:
    (x1, y1), (x2, y2) = _corner(start), _corner(end)
    if y1 == y2:
        side = 1 if x2 > x1 else -1
        x1, x2 = x1 + (WIDTH if side > 0 else 0), x2 + (0 if side > 0 else WIDTH)
        return f'<path class="way" marker-end="url(#head)" d="M{x1} {y1 + 20}L{x2} {y2 + 20}"/>'
    below = y2 + _height(shown[end])
    shift = 40 + 24 * list(PLACES).index(start)
    return f'<path class="way" marker-end="url(#head)" d="M{x1 + shift} {y1}L{x2 + shift} {below + 2}"/>'


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw(), encoding="utf-8")
