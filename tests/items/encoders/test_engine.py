"""The engine leaves no trace outside of what it is asked for."""

import os
import subprocess
import sys

import pytest

from likewise.items.encoders.engine import NO_TELEMETRY

pytest.importorskip("onnxruntime", reason='pip install "likewise[networks]"')

NETWORK = """
from likewise.items.encoders.engine import Engine
from likewise.items.encoders.graph import Graph
graph = Graph()
x = graph.node("Flatten", [graph.input("x", [3, 1, 1])])
Engine(graph.file(x, [3]), "a network")
"""
FASTEMBED = """
from likewise.items.encoders.own import NamedTexts
try:
    NamedTexts("no such model")
except Exception as error:
    print(error)
"""


@pytest.mark.parametrize(
    "code",
    [NETWORK, pytest.param(FASTEMBED, marks=pytest.mark.slow)],
    ids=["a network", "fastembed"],
)
def test_no_number_for_this_machine_is_made_and_no_event_is_sent(tmp_path, code):
    if code is FASTEMBED:
        pytest.importorskip("fastembed", reason='pip install "likewise[fastembed]"')
    environment = {name: value for name, value in os.environ.items() if name != NO_TELEMETRY}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert not list(tmp_path.rglob("*evice*"))
    assert not list(tmp_path.rglob("*onnxruntime*"))
