"""A picture's file -> a small copy of its pixels.

The pixels are decoded and encoded anew, never copied: what is no picture cannot get through, and of what is
one nothing but its pixels does. Needs Pillow, which is imported only when a picture is.
"""

from __future__ import annotations

import base64
import io
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labelcut.auditing.words import grouped
from labelcut.errors import BadChoice

if TYPE_CHECKING:
    from PIL.Image import Image

#: Kinds of files that are opened. Others that Pillow knows start a program, are no pictures, or have no mark.
FORMATS = ("PNG", "JPEG", "MPO", "WEBP", "GIF", "TIFF", "BMP", "DIB", "AVIF", "JPEG2000", "PPM", "ICO", "QOI")
MOST_PIXELS = 89_478_485  # Of a decoded picture; Pillow's own border to a decompression bomb.
EXACT_PIXELS = 64 * 64  # So small a picture keeps every pixel as it is.
EXACT_COLOURS = 256  # So does a drawing of so few colours; of a photograph nobody sees the difference.
QUALITY = 82
DEEP = ("I", "F", "I;16", "I;16L", "I;16B", "I;16N")


class NoPicture(Exception):
    """What stands in the place of a picture: why there is none."""


def require_pillow() -> None:
    """Say what to install where Pillow is not."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError as error:
        raise BadChoice("pictures need Pillow, which is missing; pip install 'labelcut[images]'.") from error


def make_thumbnail(file: Path, side: int) -> str:
    """Return a copy of at most `side` pixels each way, as an address that holds the whole of it.

    `NoPicture` says why there is none.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # On doubtful metadata, none of which is kept.
        try:
            small = _shrunk(file, side)
        except (NoPicture, MemoryError):
            raise
        except Exception as error:  # A decoder may stumble over a broken file in any way.
            raise NoPicture(_told(file, error)) from error
    return _uri(small)


@cache
def _formats() -> list[str]:
    from PIL import Image

    Image.init()
    return [name for name in FORMATS if name in Image.OPEN]


def _shrunk(file: Path, side: int) -> Image:
    from PIL import Image

    with Image.open(file, formats=_formats()) as image:
        image.draft(None, (2 * side, 2 * side))  # A jpeg is decoded no larger than needed.
        if image.width * image.height > MOST_PIXELS:
            raise NoPicture(f"too large: {grouped(image.width)} × {grouped(image.height)} pixels")
        image.load()  # Of several frames the first.
        small = _plain(_turned(image))
    small.thumbnail((side, side), Image.Resampling.LANCZOS)
    return small


def _turned(image: Image) -> Image:
    """Return the picture as the camera was held; a picture whose notes are broken stays as it is."""
    from PIL import ImageOps

    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # The notes of a camera may be broken in any way; the pixels are there.
        return image


def _plain(image: Image) -> Image:
    """Return the pixels alone, in grey or in red, green and blue, on white paper."""
    from PIL import Image

    if image.mode in DEEP:
        image = Image.fromarray(_stretched(np.asarray(image, dtype=np.float64)))
    mode = "L" if image.mode in ("1", "L") and "transparency" not in image.info else "RGB"
    paper = Image.new(mode, image.size, "white")  # A new one: it carries no profile, note or name along.
    if image.has_transparency_data:
        cover = image.convert("RGBA")
        paper.paste(cover, mask=cover.getchannel("A"))
    else:
        paper.paste(image.convert(mode))
    return paper


def _stretched(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return deep grey values as 0 to 255, from the darkest to the brightest that there is."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    scaled = (np.nan_to_num(values, nan=low, posinf=high, neginf=low) - low) / max(high - low, 1e-300)
    return np.asarray(np.round(255 * np.clip(scaled, 0, 1)), dtype=np.uint8)


def _uri(image: Image) -> str:
    is_exact = image.width * image.height <= EXACT_PIXELS or image.getcolors(EXACT_COLOURS) is not None
    kind, options = ("png", {}) if is_exact else ("jpeg", {"quality": QUALITY, "optimize": True})
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return f"data:image/{kind};base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _told(file: Path, error: Exception) -> str:
    """Return in a few words why a file cannot be shown."""
    from PIL import Image, UnidentifiedImageError

    if isinstance(error, Image.DecompressionBombError):
        return "too large to be decoded"
    if isinstance(error, UnidentifiedImageError):
        start = _start(file).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
        is_svg = start.startswith((b"<svg", b"<?xml", b"<!doctype svg")) or file.suffix.lower() == ".svg"
        return "SVG, which can hold programs, is not shown" if is_svg else "no picture that can be read"
    if isinstance(error, PermissionError):
        return "the file may not be read"
    return "the file is broken or cut off"


def _start(file: Path) -> bytes:
    try:
        with open(file, "rb") as stream:
            return stream.read(512)
    except OSError:
        return b""
