"""What the gallery has to find by name: the argument and the order of the examples."""

import tempfile
from pathlib import Path


def file_name(gallery_conf: dict, script_vars: dict) -> list[str]:
    """Return where an example may save its picture, so that it draws one; the gallery shows the figure."""
    return [str(Path(tempfile.gettempdir(), Path(script_vars["src_file"]).with_suffix(".png").name))]


class CutsLast:
    """Tables first, then the examples that use the cut as a solver."""

    def __init__(self, src_dir: str) -> None:
        """Remember the folder."""
        self.folder = Path(src_dir)

    def __call__(self, filename: str) -> tuple[bool, str]:
        """Return the key to sort by."""
        text = (self.folder / filename).read_text(encoding="utf-8")
        return "from labelcut.cut import" in text, filename
