"""Run the benchmarks: what a person feels, all of them, or those named on the command line.

python -m benchmarks            # what a person feels: the page, part by part
python -m benchmarks rest       # those parts of it that were not measured with the code of now
python -m benchmarks all        # all of them, hours
python -m benchmarks questions  # one
python -m benchmarks --list

The page is written after every part, so nothing is lost when a run is interrupted.
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


def headline(name):
    """Return the first line of what a benchmark says about itself."""
    return (importlib.import_module(f"benchmarks.{name}").__doc__ or "").splitlines()[0]


def wanted(arguments):
    if arguments == ["all"]:
        return names()
    if arguments == ["rest"]:
        return [part for part in _summary.PARTS if not _summary.is_current(part)]
    return arguments or list(_summary.PARTS)


def run(name):
    """Run a benchmark and write the page; return whether it went well."""
    module = importlib.import_module(f"benchmarks.{name}")
    print(f"== {name}: {headline(name)}", flush=True)
    began = time.perf_counter()
    try:
        module.main()
        _summary.write()
    except Exception:
        traceback.print_exc()
        return False
    finally:
        print(f"   {name}: {time.perf_counter() - began:.0f} s by the clock", flush=True)
    return True


def main(arguments):
    if "--help" in arguments or "-h" in arguments:
        print(__doc__.strip())
        return
    if "--list" in arguments:
        for name in names():
            print(f"{name:15} {headline(name)}")
        return
    unknown = [name for name in arguments if name not in ("all", "rest", *names())]
    if unknown:
        sys.exit(f"there is no benchmark {', '.join(unknown)}: python -m benchmarks --list")
    failed = [name for name in wanted(arguments) if not run(name)]
    if failed:
        sys.exit(f"failed, so their figures are those of an earlier run: {', '.join(failed)}")


main(sys.argv[1:])
