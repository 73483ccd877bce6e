"""EfficientNet-Lite as an ONNX file, written without the package ``onnx``.

ONNX files are Protocol Buffers. The few messages that a network of convolutions needs take fewer
lines here than a dependency would take megabytes, and onnxruntime checks every one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

FLOAT = 1
"""The type of tensors, as `onnx.proto` numbers it."""
INT, STRING, INTS = 2, 3, 7
"""Types of attributes."""
OPSET = 13
"""The first version of ONNX in which all operators used here have their form of today."""

EPSILON = 1e-3
"""What batch normalization adds to variances."""

Weights = Mapping[str, NDArray[np.float32]]


def efficientnet_lite(weights: Weights, side: int, halving: Collection[int]) -> bytes:
    """Return an EfficientNet-Lite up to the values before its classifier, as an ONNX file.

    Its input is ``pictures``, float32 of shape (n, 3, side, side); its output has shape (n, 1280).

    Parameters
    ----------
    weights : mapping of str to array
        The network's parameters, by the names that the reference in torch gives them.
    side : int
        The width and height of pictures.
    halving : collection of int
        Blocks that halve the width and height, counted from 0. All else is seen in the weights.
    """
    graph = Graph()
    x = graph.input("pictures", [3, side, side])
    x = graph.clip6(_convolve(graph, weights, x, "_conv_stem", "_bn0", stride=2))
    n_blocks = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("_blocks."))
    for k in range(n_blocks):
        x = _block(graph, weights, x, f"_blocks.{k}.", stride=2 if k in halving else 1)
    x = graph.clip6(_convolve(graph, weights, x, "_conv_head", "_bn1"))
    values = graph.node("Flatten", [graph.node("GlobalAveragePool", [x])])
    return graph.file(values, [len(weights["_bn1.bias"])])


def _block(graph: Graph, weights: Weights, x: str, prefix: str, stride: int) -> str:
    """Add an inverted bottleneck: widen, convolve each channel by itself, narrow."""
    y, wide = x, f"{prefix}_expand_conv"
    if f"{wide}.weight" in weights:
        y = graph.clip6(_convolve(graph, weights, y, wide, f"{prefix}_bn0"))
    deep = f"{prefix}_depthwise_conv"
    n_channels = len(weights[f"{deep}.weight"])
    y = _convolve(graph, weights, y, deep, f"{prefix}_bn1", stride=stride, groups=n_channels)
    narrow = f"{prefix}_project_conv"
    y = _convolve(graph, weights, graph.clip6(y), narrow, f"{prefix}_bn2")
    n_in = weights[f"{wide}.weight"].shape[1] if f"{wide}.weight" in weights else n_channels
    is_same_shape = stride == 1 and n_in == len(weights[f"{narrow}.weight"])
    return graph.node("Add", [y, x]) if is_same_shape else y


def _convolve(
    graph: Graph,
    weights: Weights,
    x: str,
    layer: str,
    norm: str,
    *,
    stride: int = 1,
    groups: int = 1,
) -> str:
    """Add a convolution and the batch normalization after it, which becomes a part of it."""
    kernel = weights[f"{layer}.weight"].astype(np.float64)
    scale = weights[f"{norm}.weight"] / np.sqrt(weights[f"{norm}.running_var"] + EPSILON)
    shift = weights[f"{norm}.bias"] - weights[f"{norm}.running_mean"] * scale
    return graph.node(
        "Conv",
        [x, graph.tensor(kernel * scale[:, None, None, None]), graph.tensor(shift)],
        # TensorFlow's padding: the odd pixel is on the right and below.
        auto_pad="SAME_UPPER",
        strides=[stride, stride],
        group=groups,
    )


class Graph:
    """A network as it is being written: nodes, and tensors that never change."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._tensors: list[bytes] = []
        self._inputs: list[bytes] = []
        self._limits: list[str] = []

    def input(self, name: str, shape: Iterable[int]) -> str:
        """Declare an input of any number of rows of this shape."""
        self._inputs.append(_value(name, shape))
        return name

    def tensor(self, array: NDArray[np.floating]) -> str:
        """Store an array as float32; return its name."""
        name = f"t{len(self._tensors)}"
        data = np.ascontiguousarray(array, dtype="<f4")
        dims = b"".join(_field(1, n) for n in data.shape)
        parts = dims + _field(2, FLOAT) + _field(8, name) + _field(9, data.tobytes())
        self._tensors.append(parts)
        return name

    def node(
        self, operator: str, inputs: Iterable[str], **attributes: str | int | list[int]
    ) -> str:
        """Apply an operator; return the name of its result."""
        name = f"x{len(self._nodes)}"
        parts = b"".join(_field(1, one) for one in inputs) + _field(2, name) + _field(4, operator)
        for key, value in attributes.items():
            parts += _field(5, _field(1, key) + _attribute(value))
        self._nodes.append(parts)
        return name

    def clip6(self, x: str) -> str:
        """Apply the activation of EfficientNet-Lite: limit values to between 0 and 6."""
        if not self._limits:
            self._limits = [self.tensor(np.array(limit)) for limit in (0.0, 6.0)]
        return self.node("Clip", [x, *self._limits])

    def file(self, output: str, shape: Iterable[int]) -> bytes:
        """Return the file, whose only output has rows of this shape."""
        graph = b"".join(_field(1, node) for node in self._nodes) + _field(2, "network")
        graph += b"".join(_field(5, tensor) for tensor in self._tensors)
        graph += b"".join(_field(11, one) for one in self._inputs)
        graph += _field(12, _value(output, shape))
        return _field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, OPSET))


def _value(name: str, shape: Iterable[int]) -> bytes:
    """Return the declaration of an input or output: a float tensor of any number of rows."""
    dims = _field(1, _field(2, "n")) + b"".join(_field(1, _field(1, n)) for n in shape)
    tensor_type = _field(1, FLOAT) + _field(2, dims)
    return _field(1, name) + _field(2, _field(1, tensor_type))


def _attribute(value: str | int | list[int]) -> bytes:
    if isinstance(value, str):
        return _field(4, value) + _field(20, STRING)
    if isinstance(value, int):
        return _field(3, value) + _field(20, INT)
    return b"".join(_field(8, n) for n in value) + _field(20, INTS)


def _field(number: int, value: int | str | bytes) -> bytes:
    """Return a field of a Protocol Buffer: a whole number, or bytes with their length."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    """Return a whole number in groups of seven bits, the lowest first."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
