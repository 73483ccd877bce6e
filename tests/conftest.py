import gc
import os
import random
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

# Data of tests is small and cores are shared: more threads would only wait for one another, which
# took a third of the time. Set before NumPy is loaded, and processes of tests inherit it.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Hypothesis also tries constants of modules that happen to be loaded, which are others in every
# process of a run. Older versions do not.
with suppress(ImportError):
    from hypothesis.internal.conjecture import providers
    from hypothesis.internal.constants_ast import Constants

    providers._get_local_constants = Constants
# The same examples on every run and every machine, however slow: tests never depend on timing.
settings.register_profile(
    "likewise",
    deadline=None,
    max_examples=12,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("fast", parent=settings.get_profile("likewise"), max_examples=6)
settings.load_profile("likewise")


def pytest_addoption(parser):
    """Let the order of the tests be drawn."""
    parser.addoption(
        "--order", type=int, metavar="SEED", help="shuffle the modules, and the tests in each"
    )


def pytest_report_header(config):
    """Say which order it is, so that it can be had again."""
    seed = config.getoption("order")
    return None if seed is None else f"order of the tests: --order {seed}"


def pytest_collection_modifyitems(config, items):
    """Shuffle tests, if asked to; those of a module stay together, since they share fixtures."""
    seed = config.getoption("order")
    if seed is None:
        return
    rng = random.Random(seed)
    modules: dict[Path, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
    shuffled = list(modules.values())
    rng.shuffle(shuffled)
    for some in shuffled:
        rng.shuffle(some)
    items[:] = [item for some in shuffled for item in some]


def pytest_collection_finish(session):
    """Leave thousands of tests out of the search for garbage, which took a tenth of the time."""
    gc.freeze()


def pytest_configure(config):
    """Draw fewer examples where slow tests are left out; keep away from the user's cache.

    Features of an earlier run, perhaps by other code, would be taken for those of this one.
    """
    if "not slow" in config.getoption("markexpr"):
        settings.load_profile("fast")
    if not hasattr(config, "workerinput"):  # workers inherit it, and share it
        folder = TemporaryDirectory(prefix="likewise-cache-", ignore_cleanup_errors=True)
        os.environ["XDG_CACHE_HOME"] = folder.name
        config.add_cleanup(folder.cleanup)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Have one worker more than cores: tests with a browser mostly wait for it."""
    has_browser = "not browser" not in config.getoption("markexpr")
    return (os.cpu_count() or 1) + 1 if has_browser else None


@pytest.fixture
def data_home():
    """The folder with the paper's datasets."""
    folder = os.environ.get("LIKEWISE_DATA")
    if not folder:
        pytest.skip("set LIKEWISE_DATA to the folder with the paper's datasets")
    return Path(folder)


@pytest.fixture
def fits(monkeypatch):
    """A list that grows with every fit of the learner: by how many rows were known."""
    from likewise.learning.learner import Learner

    found = []
    fit = Learner._fit

    def counted(learner, known, groups):
        found.append(len(known))
        return fit(learner, known, groups)

    monkeypatch.setattr(Learner, "_fit", counted)
    return found
