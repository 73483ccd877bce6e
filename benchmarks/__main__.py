"""Run the benchmarks: all of them, or those named on the command line.

python -m benchmarks            # all
python -m benchmarks questions  # one
python -m benchmarks --list
"""

import importlib
import pkgutil
import sys

import benchmarks
from benchmarks import _summary


def names():
    return sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name[0] != "_")


def main(arguments):
    if "--list" in arguments:
        print("\n".join(names()))
        return
    for name in arguments or names():
        module = importlib.import_module(f"benchmarks.{name}")
        if not hasattr(module, "main"):
            continue
        print(f"== {name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
        module.main()
    _summary.write()


main(sys.argv[1:])
