"""Networks that a user brings: an ONNX file, or the name of a model that fastembed downloads."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError, needs_extra
from likewise.items.encoders.engine import Engine, Port, keep_quiet, side_by_side
from likewise.items.encoders.networks import PictureEncoder, TextEncoder, unit
from likewise.items.encoders.outside import names_files

USUAL_SIDE = 224
"""The width and height of pictures for a network that takes any."""
MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)
DEVIATION = np.array([0.229, 0.224, 0.225], dtype=np.float32)
"""Of the colors in ImageNet, from 0 to 1. Nearly all networks for pictures expect colors less the
mean, divided by the deviation."""

FILE_SUFFIX = ".onnx"
MOST_BYTES = 2**31
"""An ONNX file cannot be larger."""


def _refuse_other_files(path: Path, data: bytes) -> None:
    try:
        refers = names_files(memoryview(data))
    except ValueError as error:
        raise InputError(f"{path} is not a network that onnxruntime can run: {error}") from error
    if refers:
        raise InputError(
            f"{path} refers to other files, which are not read. Save it as one file: "
            "onnx.save(onnx.load(FILE), FILE)"
        )


class _OwnFile:
    """An ONNX file, read once."""

    def __init__(self, path: Path) -> None:
        try:
            if path.stat().st_size >= MOST_BYTES or not path.is_file():
                raise InputError(f"{path} is not an ONNX file")
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"the encoder {path} cannot be read: {error.strerror}") from error
        _refuse_other_files(path, data)
        self._engine = Engine(data, str(path))
        self.title = f"the network {path.name}"
        self.key = f"onnx {hashlib.sha256(data).hexdigest()}"

    def _only_input(self, why: str) -> Port:
        if len(self._engine.inputs) != 1:
            names = ", ".join(f"{port.name} {port.type}" for port in self._engine.inputs)
            raise InputError(f"{self._engine.name} has the inputs {names}. {why}")
        return self._engine.inputs[0]

    def _rows(self, inputs: NDArray[Any], n: int) -> NDArray[np.float32]:
        """Return one row of values for each of n things; values of places are averaged."""
        values = self._engine.run({self._engine.inputs[0].name: inputs})
        if values.ndim == 3:
            values = values.mean(axis=1)
        elif values.ndim == 4:
            # Channels are more than places in the last layers, on whichever side they are.
            is_last = values.shape[3] > values.shape[1]
            values = values.mean(axis=(1, 2) if is_last else (2, 3))
        if values.ndim != 2 or len(values) != n or not np.isfinite(values).all():
            raise InputError(
                f"{self._engine.name} gives values of shape {values.shape} for {n} inputs, where "
                "one row of finite numbers for each is needed"
            )
        return values


class OwnPictureFile(_OwnFile, PictureEncoder):
    """An ONNX file for pictures.

    Its only input is a batch of RGB pictures, channels first or last: ``uint8``, or ``float`` as
    most networks have them, from 0 to 1, less ImageNet's mean and divided by its deviation.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        why = (
            "An encoder of pictures has one input: pictures of shape (n, 3, height, width) or "
            "(n, height, width, 3), as float or uint8."
        )
        port = self._only_input(why)
        is_first = len(port.shape) == 4 and port.shape[1] == 3
        is_last = len(port.shape) == 4 and port.shape[3] == 3
        if not (is_first or is_last) or port.type not in ("tensor(float)", "tensor(uint8)"):
            shape = " x ".join(str(n or "?") for n in port.shape)
            raise InputError(f"{path} takes {port.type} of shape {shape}. {why}")
        height, width = port.shape[2:] if is_first else port.shape[1:3]
        sizes = {n for n in (height, width) if isinstance(n, int)}
        if len(sizes) > 1:
            raise InputError(f"{path} takes pictures of {width} x {height}, which are not square")
        self.side = sizes.pop() if sizes else USUAL_SIDE
        self._is_channels_first = is_first
        self._is_float = port.type == "tensor(float)"
        # A network whose first size is fixed takes exactly that many at a time.
        self._batch = port.shape[0] if isinstance(port.shape[0], int) else 4

    def encode(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return a row for each picture."""

        def compute(start: int) -> NDArray[np.float32]:
            part = pictures[start : start + self._batch]
            # Filled up with the last picture, where the number is fixed.
            filled = part[np.minimum(np.arange(self._batch), len(part) - 1)]
            inputs: NDArray[Any] = filled
            if self._is_float:
                inputs = (filled.astype(np.float32) / 255 - MEAN) / DEVIATION
            if self._is_channels_first:
                inputs = np.ascontiguousarray(inputs.transpose(0, 3, 1, 2))
            return self._rows(inputs, len(filled))[: len(part)]

        return side_by_side(compute, range(0, len(pictures), self._batch))


class OwnTextFile(_OwnFile, TextEncoder):
    """An ONNX file for texts, whose only input is strings, so that it cuts them up itself."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        why = (
            "An encoder of texts has one input, strings. A file that takes numbers of words does "
            "not say which words they are: name a model of fastembed instead, or bring features "
            "of your own with --features."
        )
        port = self._only_input(why)
        if port.type != "tensor(string)" or len(port.shape) not in (1, 2):
            raise InputError(f"{path} takes {port.type}. {why}")
        self._is_column = len(port.shape) == 2

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text."""
        strings = np.array(texts, dtype=object)
        return unit(self._rows(strings[:, None] if self._is_column else strings, len(texts)))


class _Named:
    """A model of fastembed, which downloads its weights when it is first used."""

    what: str
    lister: str

    def __init__(self, name: str) -> None:
        keep_quiet()
        with needs_extra(f"the encoder {name}", "fastembed"):
            import fastembed

        self._class = getattr(fastembed, self.lister)
        models = [str(one["model"]) for one in self._class.list_supported_models()]
        exact = {known.lower(): known for known in models}
        if name.lower() not in exact:
            close = difflib.get_close_matches(name, models, 3, 0.3) or models[:3]
            raise InputError(
                f"there is no encoder {name!r} of {self.what}: neither a file that ends in "
                f"{FILE_SUFFIX} nor a model of fastembed such as {', '.join(close)}"
            )
        self._name = exact[name.lower()]
        self.title = f"{self._name} by fastembed"
        self.key = f"fastembed {self._name}"

    @cached_property
    def _model(self) -> Any:
        try:
            return self._class(self._name, threads=1)
        except Exception as error:  # of its own, of requests and of huggingface_hub
            raise InputError(
                f"fastembed cannot load {self._name}: {error}. Without a network, use an encoder "
                "whose weights are a package, or an ONNX file"
            ) from error


class NamedPictures(_Named, PictureEncoder):
    """A model of fastembed for pictures."""

    what, lister, side = "pictures", "ImageEmbedding", USUAL_SIDE

    def encode(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return a row for each picture."""
        from PIL import Image

        rows = self._model.embed([Image.fromarray(one) for one in pictures])
        return np.stack([*rows]).astype(np.float32)


class NamedTexts(_Named, TextEncoder):
    """A model of fastembed for texts."""

    what, lister = "texts", "TextEmbedding"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text."""
        return unit(np.stack([*self._model.embed([*texts])]).astype(np.float32))
