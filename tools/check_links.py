"""Follow every internal link of a built site; leave with 1 and a list if a file or an anchor is missing.

A picture or a script from another host is listed too: the site is whole without a network.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The anchors of a page and the places it points to."""

    def __init__(self, text: str) -> None:
        """Read the page."""
        super().__init__()
        self.anchors: set[str] = {"", "top"}
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag is called and what it points to."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self.links += [given[name] for name in ("href", "src") if name in given]
        self.fetched += [given[name] for name in ("src",) if name in given]
        self.fetched += [given["href"]] if tag == "link" and given.get("rel") == "stylesheet" else []


def broken(site: Path) -> list[str]:
    """Return a line for every internal link that leads nowhere."""
    own = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in own}
    found = []
    for path, page in pages.items():
        found += [
            f"{path.relative_to(site)}: {link} is elsewhere" for link in page.fetched if urlsplit(link).netloc
        ]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchors = pages[target].anchors if target in pages else {"", unquote(parts.fragment)}
            if not target.exists() or unquote(parts.fragment) not in anchors:
                found.append(f"{path.relative_to(site)}: {link}")
    return found


if __name__ == "__main__":
    lines = broken(Path(sys.argv[1]).resolve())
    sys.stdout.write("\n".join(lines) + "\n" if lines else "every internal link leads somewhere\n")
    sys.exit(bool(lines))
