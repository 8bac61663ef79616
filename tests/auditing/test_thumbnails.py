"""Small copies of pictures: any picture, nothing but its pixels, and a reason where there is none."""

import base64
import io
import struct
import sys
import zlib
from contextlib import suppress

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from labelcut.auditing.thumbnails import NoPicture, make_thumbnail, require_pillow
from labelcut.errors import BadChoice


def read(uri):
    """Decode a copy."""
    kind, _, data = uri.partition(";base64,")
    assert kind in ("data:image/png", "data:image/jpeg")
    return Image.open(io.BytesIO(base64.b64decode(data, validate=True)))


def left_is_dark(width=40, height=20):
    """Return grey values: the left half is dark."""
    values = np.full((height, width), 230, dtype=np.uint8)
    values[:, : width // 2] = 20
    return values


@pytest.fixture
def copy(tmp_path):
    """Save a picture and return its copy, or write bytes and try."""

    def copy(picture, name="a.png", side=64, **options):
        file = tmp_path / name
        if isinstance(picture, bytes):
            file.write_bytes(picture)
        else:
            picture.save(file, **options)
        return read(make_thumbnail(file, side))

    return copy


@pytest.mark.parametrize(
    "mode", ["1", "L", "P", "RGB", "RGBA", "LA", "CMYK", "YCbCr", "LAB", "I;16", "I", "F"]
)
def test_every_kind_of_pixel_is_shown(copy, mode):
    grey = Image.fromarray(left_is_dark())
    if mode in ("I;16", "I", "F"):
        kind = {"I;16": np.uint16, "I": np.int32, "F": np.float32}[mode]
        picture = Image.fromarray((left_is_dark().astype(float) * 200).astype(kind))
    elif mode == "LAB":
        picture = Image.merge("LAB", [grey, *2 * [Image.new("L", grey.size, 128)]])
    else:
        picture = grey.convert("RGB").convert(mode)
    # Older Pillows write tif files of YCbCr that they cannot read; its home is jpg.
    name = "a.jpg" if mode == "YCbCr" else "a.tif"
    small = np.asarray(copy(picture, name).convert("L"), dtype=float)
    assert small.shape == (20, 40)
    assert small[:, :18].mean() < 100 < 180 < small[:, 22:].mean()


def test_a_large_picture_becomes_small_and_a_small_one_stays_exact(copy):
    noise = np.random.default_rng(0).integers(0, 255, (900, 1200, 3), dtype=np.uint8)
    assert copy(Image.fromarray(noise), side=448).size == (448, 336)
    assert copy(Image.fromarray(noise), "a.jpg", side=448).size == (448, 336)
    tiny = Image.fromarray(noise[:8, :8])
    assert copy(tiny).tobytes() == tiny.tobytes()
    line = copy(Image.new("RGB", (1, 5000)), side=100)
    assert line.size == (1, 100)


def test_photographs_become_jpeg_and_drawings_stay_png(copy):
    noise = np.random.default_rng(0).integers(0, 255, (100, 100, 3), dtype=np.uint8)
    assert copy(Image.fromarray(noise), side=100).format == "JPEG"
    drawing = copy(Image.fromarray(left_is_dark(200, 100)), side=200)
    assert drawing.format == "PNG"
    assert np.array_equal(np.asarray(drawing), left_is_dark(200, 100))


def test_a_picture_held_sideways_is_turned(copy):
    exif = Image.Exif()
    exif[0x0112] = 6  # The camera was turned: the top is at the right.
    turned = copy(Image.fromarray(left_is_dark()), "a.jpg", exif=exif)
    values = np.asarray(turned, dtype=float)
    assert turned.size == (20, 40)
    assert values[:18].max() < 100 < 180 < values[22:].min()


def test_what_is_transparent_lies_on_white_paper(copy):
    picture = Image.new("RGBA", (10, 10), (0, 0, 0, 0))
    assert copy(picture).getpixel((3, 3)) == (255, 255, 255)
    palette = Image.new("P", (10, 10), 0)
    palette.putpalette([0, 0, 0, 250, 0, 0])
    assert copy(palette, transparency=0).getpixel((3, 3)) == (255, 255, 255)


def test_of_an_animation_the_first_picture_is_shown(copy):
    frames = [Image.new("RGB", (12, 12), colour) for colour in ("red", "blue")]
    shown = copy(frames[0], "a.gif", save_all=True, append_images=frames[1:], duration=50)
    assert shown.convert("RGB").getpixel((5, 5)) == (255, 0, 0)


def test_nothing_but_the_pixels_gets_through(copy, tmp_path):
    hostile = "</script><script>alert(1)</script>"
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Comment", hostile)
    notes.add_itxt("XML:com.adobe.xmp", hostile)
    picture = Image.fromarray(np.random.default_rng(0).integers(0, 255, (90, 90, 3), dtype=np.uint8))
    exif = Image.Exif()
    exif[0x010E] = hostile
    for name in ("a.png", "a.jpg", "a.webp", "a.tif"):
        options = {"pnginfo": notes} if name == "a.png" else {}
        small = copy(picture, name, side=80, exif=exif, icc_profile=hostile.encode(), **options)
        small.load()
        assert set(small.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}
        data = base64.b64decode(make_thumbnail(tmp_path / name, 80).partition(",")[2])
        assert b"script" not in data
    # Behind the end of a picture there may be anything.
    appended = io.BytesIO()
    Image.new("L", (5, 5)).save(appended, "png")
    (tmp_path / "b.png").write_bytes(appended.getvalue() + b"SECRET" * 100)
    assert b"SECRET" not in base64.b64decode(make_thumbnail(tmp_path / "b.png", 80).partition(",")[2])


def png_of_claimed_size(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    body = zlib.compress(bytes(1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def cut_off(kind):
    stream = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 255, (60, 60, 3), dtype=np.uint8)
    Image.fromarray(noise).save(stream, kind)
    return stream.getvalue()[: len(stream.getvalue()) // 2]


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        (b"root:x:0:0:root", "passwd", "no picture that can be read"),
        (b"", "a.png", "no picture that can be read"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "a.svg", "SVG, which can hold programs"),
        (b"\xef\xbb\xbf<?xml version='1.0'?><svg/>", "a.png", "SVG, which can hold programs"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n", "a.eps", "no picture that can be read"),
        (png_of_claimed_size(12_000, 12_000), "a.png", "too large: 12\u202f000 × 12\u202f000 pixels"),
        (png_of_claimed_size(60_000, 60_000), "a.png", "too large to be decoded"),
        (png_of_claimed_size(100, 100), "a.png", "the file is broken or cut off"),
        (cut_off("png"), "a.png", "the file is broken or cut off"),
        (cut_off("jpeg"), "a.jpg", "the file is broken or cut off"),
        (cut_off("gif"), "a.gif", "the file is broken or cut off"),
        (cut_off("webp"), "a.webp", "the file is broken or cut off"),
    ],
)
def test_what_cannot_be_shown_has_a_reason(copy, content, name, reason):
    with pytest.raises(NoPicture, match=reason):
        copy(content, name)


def test_any_broken_byte_is_a_reason_or_a_picture_never_a_fault(tmp_path):
    rng = np.random.default_rng(0)
    for kind in ("png", "jpeg", "gif", "tiff", "webp", "bmp"):
        stream = io.BytesIO()
        exif = Image.Exif()
        exif[0x0112] = 6
        Image.fromarray(left_is_dark()).convert("RGB").save(stream, kind, exif=exif)
        for _ in range(60):
            content = bytearray(stream.getvalue())
            for at in rng.integers(0, len(content), 3):
                content[at] = rng.integers(0, 256)
            (tmp_path / "a").write_bytes(content)
            with suppress(NoPicture):
                read(make_thumbnail(tmp_path / "a", 32)).load()


def test_without_pillow_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(
        BadChoice, match=r"pictures need Pillow, which is missing; pip install 'labelcut\[images\]'\."
    ):
        require_pillow()
