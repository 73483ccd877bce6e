"""Run the benchmarks: what a person feels, all of them, or those named on the command line.

python -m benchmarks            # what a person feels: the page, 10 minutes
python -m benchmarks all        # all of them, hours
python -m benchmarks questions  # one
python -m benchmarks --list
"""

import importlib
import pkgutil
import sys
import time
import traceback

import benchmarks
from benchmarks import _summary


def names():
    return sorted(
        m.name
        for m in pkgutil.iter_modules(benchmarks.__path__)
        if m.name[0] != "_" and not m.ispkg
    )


def main(arguments):
    if "--list" in arguments:
        print("\n".join(names()))
        return
    failed = []
    for name in names() if arguments == ["all"] else arguments or _summary.NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"== {name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
        began = time.perf_counter()
        try:
            module.main()
        except Exception:
            traceback.print_exc()
            failed.append(name)
        print(f"   {time.perf_counter() - began:.0f} s", flush=True)
    _summary.write()
    if failed:
        sys.exit(f"failed, so their figures are those of an earlier run: {', '.join(failed)}")


main(sys.argv[1:])
