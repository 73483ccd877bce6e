import subprocess
import sys

import pytest
from click.testing import CliRunner

from likewise.cli import main


def test_help_says_what_it_is_for():
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    assert "answering a few questions" in result.output


@pytest.mark.slow
def test_the_package_can_be_run_as_a_module():
    ran = subprocess.run(
        [sys.executable, "-m", "likewise", "--version"], capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("likewise")
