"""Whatever lies in a folder of pictures: drawings, pages, iPhone pictures, odd modes."""

import gzip
import io

import numpy as np
import pytest

from likewise.items import open_items
from likewise.items.images import formats

Image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" {}>{}</svg>'
SIZE = 'width="40" height="20"'
HALF = '<rect width="20" height="20" fill="red"/>'


def shown(folder, name, size=64):
    items = open_items(folder, encoder="layout", cache=False)
    assert items.problems == ()
    picture = Image.open(io.BytesIO(items.thumbnail(items.ids.index(name), size, format="png")))
    return picture.convert("RGB")


def problem_of(folder, name):
    (problem,) = open_items(folder, encoder="layout", cache=False).problems
    assert problem.message.startswith(f"{name}: ")
    return problem.message


@pytest.fixture
def folder(tmp_path):
    Image.new("RGB", (4, 4), "blue").save(tmp_path / "a.png")
    return tmp_path


# -- modes of pictures -----------------------------------------------------------------------------


def palette():
    picture = Image.new("P", (8, 8), 0)
    picture.putpalette([255, 0, 0, 0, 255, 0])
    picture.info["transparency"] = 0
    return picture


@pytest.mark.parametrize(
    ("make", "name", "options"),
    [
        (palette, "p.png", {"transparency": 0}),
        (palette, "p.gif", {"transparency": 0}),
        (lambda: Image.new("LA", (8, 8), (0, 0)), "la.png", {}),
        (lambda: Image.new("RGBA", (8, 8), (0, 0, 0, 0)), "rgba.webp", {"lossless": True}),
    ],
)
def test_what_is_transparent_is_white(folder, make, name, options):
    make().save(folder / name, **options)
    assert shown(folder, name).getpixel((4, 4)) == (255, 255, 255)


def test_gray_of_sixteen_bits_and_inks_have_their_colors(folder):
    Image.fromarray(np.full((8, 8), 32768, dtype=np.uint16)).save(folder / "b.png")
    assert shown(folder, "b.png").getpixel((4, 4)) == (127, 127, 127)
    Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(folder / "inks.jpg", quality=95)
    red, green, blue = shown(folder, "inks.jpg").getpixel((4, 4))
    assert red > 200
    assert max(green, blue) < 80


@pytest.mark.parametrize("name", ["moves.gif", "moves.webp", "moves.png"])
def test_the_first_frame_of_what_moves_is_shown(folder, name):
    frames = [Image.new("RGB", (8, 8), color) for color in ("red", "lime", "black")]
    options = {"lossless": True} if name.endswith("webp") else {}
    frames[0].save(folder / name, save_all=True, append_images=frames[1:], **options)
    assert shown(folder, name).getpixel((4, 4)) == (255, 0, 0)


def test_avif_is_read_where_pillow_reads_it(folder):
    if formats.NEWER not in formats.readable():
        pytest.skip("this Pillow was built without AVIF")
    Image.new("RGB", (32, 16), "red").save(folder / "b.avif")
    assert shown(folder, "b.avif").size == (32, 16)
    assert shown(folder, "b.avif").getpixel((4, 4))[0] > 240


def test_heic_is_read_upright(folder):
    heif = pytest.importorskip("pillow_heif", reason='pip install "likewise[formats]"')
    picture = Image.new("RGB", (64, 32), "red")
    exif = Image.Exif()
    exif[0x0112] = 6  # on its side
    heif.from_pillow(picture).save(folder / "b.heic", exif=exif.tobytes())
    items = open_items(folder, encoder="layout", cache=False)
    view = items.view(items.ids.index("b.heic"))
    assert shown(folder, "b.heic").size == (view["width"], view["height"]) == (32, 64)
    assert shown(folder, "b.heic").getpixel((4, 4))[0] > 200
    (folder / "broken.heic").write_bytes((folder / "b.heic").read_bytes()[:200])
    assert "broken.heic" in problem_of(folder, "broken.heic")


# -- drawings and pages ----------------------------------------------------------------------------


@pytest.fixture
def resvg():
    pytest.importorskip("resvg_py", reason='pip install "likewise[formats]"')


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_drawing_is_drawn_on_white(folder, resvg, pack):
    name = "b.svg" if pack is bytes else "b.svgz"
    (folder / name).write_bytes(pack(SVG.format(SIZE, HALF).encode()))
    picture = shown(folder, name)
    assert picture.size == (64, 32)
    assert picture.getpixel((8, 16)) == (255, 0, 0)
    assert picture.getpixel((56, 16)) == (255, 255, 255)


@pytest.mark.parametrize("unit", ["px", "pt", "pc", "mm", "cm", "in"])
def test_a_drawing_may_have_lengths_of_any_unit(folder, resvg, unit):
    size = f'width="60{unit}" height="30{unit}"'
    half = f'<rect width="30{unit}" height="30{unit}" fill="red"/>'
    (folder / "b.svg").write_text(SVG.format(size, half))
    picture = shown(folder, "b.svg")
    assert picture.size == (64, 32)
    assert picture.getpixel((8, 16)) == (255, 0, 0)
    assert picture.getpixel((56, 16)) == (255, 255, 255)


@pytest.mark.parametrize(
    "inside",
    [
        '<image x:href="secret.png" width="40" height="20"/>',
        '<image href="/etc/hostname" width="40" height="20"/>',
        '<image href="file:///etc/hostname" width="40" height="20"/>',
        '<image href="http://localhost:1/a.png" width="40" height="20"/>',
        '<image href="data:image/svg+xml;base64,AAAA" width="40" height="20"/>',
        # The renderer takes what has no type that it knows for SVG.
        '<image href="data:image/?,%3Csvg/%3E" width="40" height="20"/>',
        '<image href="data:image/x-svg,%3Csvg/%3E" width="40" height="20"/>',
        '<use x:href="other.svg#part"/>',
    ],
)
def test_a_drawing_that_names_anything_outside_is_not_drawn(folder, resvg, inside):
    (folder / "b.svg").write_text(SVG.format(SIZE, inside))
    assert "refers to another file" in problem_of(folder, "b.svg")


def test_a_style_sheet_brings_nothing_from_outside(folder, resvg):
    Image.new("RGB", (40, 20), "lime").save(folder / "green.png")
    style = f"<style>@import url({folder}/x.css); rect {{fill: url({folder}/green.png)}}</style>"
    (folder / "b.svg").write_text(SVG.format(SIZE, style + '<rect width="40" height="20"/>'))
    items = open_items(folder, encoder="layout", cache=False)
    data = items.thumbnail(items.ids.index("b.svg"), 64, format="png")
    colors = {color for _, color in Image.open(io.BytesIO(data)).convert("RGB").getcolors()}
    assert (0, 255, 0) not in colors


def entities(declared, inside="&a;"):
    return f"<!DOCTYPE svg [{declared}]>{SVG.format(SIZE, inside)}"


def test_a_drawing_of_illustrator_has_short_entities(folder, resvg):
    text = entities('<!ENTITY ns "http://www.w3.org/2000/svg"><!ENTITY c "red">', HALF)
    text = text.replace('"http://www.w3.org/2000/svg" x', '"&ns;" x').replace('"red"/', '"&c;"/')
    (folder / "b.svg").write_text(text)
    assert shown(folder, "b.svg").getpixel((8, 16)) == (255, 0, 0)


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("ISO-8859-1", "latin-1"),
        ("windows-1252", "cp1252"),
        ("UTF-8", "utf-8-sig"),
        ("UTF-16", "utf-16"),
    ],
)
def test_a_drawing_is_read_in_the_encoding_that_it_declares(folder, resvg, declared, encoding):
    text = f"<?xml version='1.0' encoding='{declared}'?>" + SVG.format(SIZE, f"<!-- ü -->{HALF}")
    (folder / "b.svg").write_bytes(text.encode(encoding))
    assert shown(folder, "b.svg").getpixel((8, 16)) == (255, 0, 0)


@pytest.mark.parametrize("declared", ["punycode", "zlib_codec", "unicode_escape"])
def test_a_drawing_in_another_encoding_is_not_drawn(folder, resvg, declared):
    text = f'<?xml version="1.0" encoding="{declared}"?>{SVG.format(SIZE, HALF)}'
    (folder / "b.svg").write_text(text)
    assert f"its encoding is {declared}" in problem_of(folder, "b.svg")


def laughs(n_levels=20):
    """Groups that use one another: 2 to the 20th rectangles."""
    parts = [f'<g id="a0">{HALF}</g>']
    parts += [
        f'<g id="a{k}"><use href="#a{k - 1}"/><use href="#a{k - 1}"/></g>'
        for k in range(1, n_levels + 1)
    ]
    return SVG.format(SIZE, "".join(parts))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (entities('<!ENTITY a SYSTEM "/etc/hostname">'), "declares entities"),
        (entities('<!ENTITY % a SYSTEM "/etc/hostname"> %a;'), "declares entities"),
        (entities('<!ENTITY a "&#60;image/>">'), "declares entities"),
        (entities('<!ENTITY a "12"><!ENTITY b "&#38;a;">'), "declares entities"),
        (entities('<!ENTITY a "#a"><!ENTITY a "/etc/hostname">'), "declares entities"),
        (entities(f'<!ENTITY a "{201 * "a"}">'), "declares entities"),
        (entities('<!ENTITY a "/etc/hostname">', '<image href="&a;"/>'), "refers to another file"),
        (SVG.format(SIZE, "<g>"), "it is damaged"),
        (SVG.format('width="1e9" height="1"', HALF), ""),
        (SVG.format('width="100000" height="1"', HALF), "it has no area"),
        (laughs(), "cannot be drawn"),
        ("no drawing", "not a picture"),
    ],
)
def test_a_hostile_drawing_stays_an_item_with_its_reason(folder, resvg, text, why, monkeypatch):
    monkeypatch.setattr(formats, "SECONDS", 2)
    (folder / "b.svg").write_text(text)
    items = open_items(folder, encoder="layout", cache=False)
    assert items.n == 2
    if why:
        assert why in problem_of(folder, "b.svg")


def test_a_drawing_called_a_photo_is_no_photo(folder, resvg):
    (folder / "b.jpg").write_text(SVG.format(SIZE, HALF))
    assert "not a picture" in problem_of(folder, "b.jpg")


def pdf():
    file = io.BytesIO()
    first, second = Image.new("RGB", (60, 120), "red"), Image.new("RGB", (60, 120), "blue")
    first.save(file, "pdf", save_all=True, append_images=[second])
    return file.getvalue()


def test_the_first_page_of_a_pdf_is_a_picture(folder):
    pytest.importorskip("pypdfium2", reason='pip install "likewise[formats]"')
    (folder / "b.pdf").write_bytes(pdf())
    picture = shown(folder, "b.pdf", 128)
    assert picture.size == (64, 128)
    assert picture.getpixel((32, 64))[0] > 200 > picture.getpixel((32, 64))[2]
    (folder / "b.pdf").write_bytes(pdf()[:200])
    assert "it cannot be drawn (Failed to load document" in problem_of(folder, "b.pdf")
