from click.testing import CliRunner

from likewise.cli import main


def test_help_says_what_it_is_for():
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    assert "answering a few questions" in result.output
