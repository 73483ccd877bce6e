"""A project: items, a session and its file, shared by page and terminal."""

from likewise.project.changes import mended_labels
from likewise.project.formats import FORMATS, export
from likewise.project.known import add_known, read_known
from likewise.project.opening import Opened, open_project, open_session_file
from likewise.project.project import Project

__all__ = [
    "FORMATS",
    "Opened",
    "Project",
    "add_known",
    "export",
    "mended_labels",
    "open_project",
    "open_session_file",
    "read_known",
]
