import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples on every run and every machine, however slow: tests never depend on timing.
settings.register_profile(
    "likewise",
    deadline=None,
    max_examples=30,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("fast", parent=settings.get_profile("likewise"), max_examples=8)
settings.load_profile("likewise")


def pytest_configure(config):
    """Draw fewer examples where slow tests are left out."""
    if "not slow" in config.getoption("markexpr"):
        settings.load_profile("fast")


@pytest.fixture
def data_home():
    """The folder with the paper's datasets."""
    folder = os.environ.get("LIKEWISE_DATA")
    if not folder:
        pytest.skip("set LIKEWISE_DATA to the folder with the paper's datasets")
    return Path(folder)
