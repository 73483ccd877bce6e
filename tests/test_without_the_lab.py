"""The method and the product need nothing of the laboratory."""

import ast
import subprocess
import sys
from pathlib import Path

import likewise

SRC = Path(likewise.__file__).parent
LAZY = ("__init__.py", "cli/__init__.py", "core/strategy.py")
"""They name public classes, commands and strategies of the laboratory, looked up on use."""

WITHOUT_LAB = """
import pkgutil
import sys
from importlib import import_module
from importlib.abc import MetaPathFinder

class NoLab(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition("likewise.")[2].split(".")[0] == "lab":
            raise ModuleNotFoundError(f"{name} is not installed")

sys.meta_path.insert(0, NoLab())

from sklearn.datasets import load_iris
import likewise
from likewise import COBRA, LabelOracle, Likewise
from likewise.cli import main

X, y = load_iris(return_X_y=True)
for model in (COBRA(10, random_state=0), Likewise(max_queries=10, random_state=0)):
    print(model.fit(X, oracle=LabelOracle(y)).n_clusters_ > 1)
main(["--help"], prog_name="likewise", standalone_mode=False)

def modules(package):
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if module.name not in ("likewise.lab", "likewise.__main__"):
            yield module.name
            if module.ispkg:
                yield from modules(import_module(module.name))

for name in modules(likewise):
    import_module(name)
    print(name)
try:
    likewise.MPCKMeans
except ModuleNotFoundError as error:
    print(error)
"""


def test_estimators_group_the_help_is_shown_and_every_module_is_imported():
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_LAB], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    first, second, usage, *imported, refused = ran.stdout.splitlines()
    assert (first, second, usage[:15]) == ("True", "True", "Usage: likewise")
    assert {"likewise.cluster.cobra", "likewise.web.app", "likewise.cli.demo"} <= set(imported)
    assert refused.startswith("likewise.lab")


def test_no_module_of_the_product_names_the_laboratory():
    naming = {
        path.relative_to(SRC).as_posix()
        for path in SRC.rglob("*.py")
        if not path.is_relative_to(SRC / "lab") and "likewise.lab" in path.read_text("utf-8")
    }
    assert naming <= set(LAZY)


def test_no_test_of_the_core_needs_the_laboratory():
    names = {name for home, some in likewise._HOMES.items() if home[:4] == "lab." for name in some}
    for path in (Path(__file__).parent / "core").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom | ast.Import):
                asked = {f"{getattr(node, 'module', '')}.{alias.name}" for alias in node.names}
                assert not {name for name in asked if "likewise.lab" in name}, path.name
                assert not {f"likewise.{name}" for name in names} & asked, path.name
