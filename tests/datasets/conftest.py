import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_home():
    """The folder of the original data."""
    folder = os.environ.get("LIKEWISE_DATA")
    if not folder:
        pytest.skip("set LIKEWISE_DATA to a folder with the original data")
    return Path(folder)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Nothing here reads or writes the user's own cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    return tmp_path / "xdg" / "likewise"
