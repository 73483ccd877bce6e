"""Run the fast tests with the lowest and the newest versions of every dependency (needs uv).

The pairs of a Python and a resolution are those of .github/workflows/tests.yml. Each gets a virtual
environment of its own. A Python that is neither here nor to be downloaded is named and left out.

    python tools/matrix.py                                # the whole matrix, as `make matrix` does
    python tools/matrix.py 3.11 lowest-direct             # one pair
    python tools/matrix.py 3.11 lowest-direct tests/items # one pair, some tests
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
# All but torch, which is gigabytes and only for the laboratory.
EXTRAS = "app,tables,data,plot,series,notebook,dask,fast,testing"


def matrix() -> list[tuple[str, str]]:
    """Return the Pythons and resolutions of the workflow."""
    text = (ROOT / ".github/workflows/tests.yml").read_text("utf-8")
    return re.findall(r'python: "([\d.]+)", resolution: ([\w-]+)', text)


def works(*command: str | Path) -> bool:
    """Run a command in the project; return whether it succeeded."""
    return subprocess.run(command, check=False, cwd=ROOT).returncode == 0


def try_one(python: str, resolution: str, tests: list[str]) -> str:
    """Install and test in a new environment; return what came of it."""
    folder = Path(tempfile.gettempdir()) / f"likewise-{python}-{resolution}"
    if not works("uv", "venv", "--quiet", "--clear", "--python", python, folder):
        return "no such Python here"
    binary = folder / "bin" / "python"
    into = ["uv", "pip", "install", "--quiet", "--python", binary, "--resolution", resolution]
    if not works(*into, "--group", "test", "-e", f".[{EXTRAS}]"):
        return "cannot be installed"
    marks = ["-q", "-p", "no:cacheprovider", "-m", "not slow and not browser"]
    passed = works(binary, "-m", "pytest", *marks, *(tests or ["-n", "auto"]))
    return "passed" if passed else "failed"


def main() -> None:
    """Try the pair that was asked for, or all, and say what came of each."""
    asked = [(sys.argv[1], sys.argv[2])] if len(sys.argv) > 2 else matrix()
    came = {pair: try_one(*pair, sys.argv[3:]) for pair in asked}
    for (python, resolution), result in came.items():
        print(f"Python {python}, {resolution}: {result}")
    sys.exit("failed" in came.values() or "cannot be installed" in came.values())


if __name__ == "__main__":
    main()
