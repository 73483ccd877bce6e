"""A session file that is moved or deleted while it is open."""

from contextlib import closing

import pytest

from likewise.errors import LikewiseError
from likewise.project import open_project


@pytest.mark.parametrize("is_moved", [True, False])
def test_the_reason_is_that_the_file_was_moved_or_deleted(is_moved, tmp_path):
    table = tmp_path / "x.csv"
    table.write_text("a\n1\n2\n7\n8\n")
    opened = open_project(table, questions="pairs", options={"cache": False})
    with closing(opened.project) as project:
        question = project.ask()
        opened.path.rename(tmp_path / "y") if is_moved else opened.path.unlink()
        with pytest.raises(LikewiseError, match="moved, renamed or deleted while it was open"):
            project.choose(0, number=question.number, position=project.position)
