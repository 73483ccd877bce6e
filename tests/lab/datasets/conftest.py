import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


class Server:
    """A web server on this machine that serves given bytes, and can cut a connection."""

    def __init__(self):
        self.files: dict[str, bytes] = {}
        self.cut: set[str] = set()
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                content = outer.files.get(self.path)
                if content is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                half = content[: len(content) // 2]
                self.wfile.write(half if self.path in outer.cut else content)
                self.close_connection = True

            def log_message(self, *args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


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


@pytest.fixture
def web():
    """A web server on this machine."""
    server = Server()
    yield server
    server.close()
