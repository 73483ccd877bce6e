"""The engine that runs networks: onnxruntime on the processor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError, needs_extra

Batch = TypeVar("Batch")

ONLY_ERRORS = 3
"""onnxruntime's level of messages."""
NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"
"""The variable that keeps onnxruntime from sending events and from keeping a number for this
machine. It reads it when it is imported; its function for this comes too late for the first one."""


def keep_quiet() -> None:
    """Switch off the telemetry of onnxruntime; to be called before anything imports it."""
    os.environ[NO_TELEMETRY] = "1"


class Port(NamedTuple):
    """An input or output of a network; a size that is not fixed is a name or None."""

    name: str
    type: str
    shape: tuple[int | str | None, ...]


class Engine:
    """A network that is ready to run, always on one thread, so that it gives the same bits.

    Parameters
    ----------
    model : bytes
        An ONNX file that refers to no other file; see `likewise.items.encoders.outside`.
    name : str
        How errors call it.
    """

    def __init__(self, model: bytes, name: str) -> None:
        keep_quiet()
        with needs_extra(f"the network {name}", "networks"):
            import onnxruntime

        # Where somebody else has imported it before.
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = ONLY_ERRORS
        try:
            self._session = onnxruntime.InferenceSession(
                model, options, providers=["CPUExecutionProvider"]
            )
        # onnxruntime's errors have no root of their own.
        except Exception as error:
            raise InputError(
                f"{name} is not a network that onnxruntime can run: {error}"
            ) from error
        self.name = name
        self.inputs = [_port(one) for one in self._session.get_inputs()]
        self.outputs = [_port(one) for one in self._session.get_outputs()]

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Return the first output."""
        try:
            values = self._session.run([self.outputs[0].name], dict(inputs))[0]
        except Exception as error:
            raise InputError(f"{self.name} failed: {error}") from error
        return np.asarray(values, dtype=np.float32)


def _port(one: Any) -> Port:
    return Port(one.name, one.type, tuple(one.shape))


def side_by_side(
    function: Callable[[Batch], NDArray[np.float32]], batches: Iterable[Batch]
) -> NDArray[np.float32]:
    """Return the rows of all batches, computed on all cores, each batch on one thread.

    Threads within a batch would wait for each other after every layer, for very long on a busy
    machine, and would end in other bits on another one.
    """
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return np.concatenate(list(pool.map(function, batches)))
