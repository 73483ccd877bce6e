import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

CHROMIUM = os.environ.get("LIKEWISE_CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No host but this machine is found: whatever a page wants of the network fails.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
SOURCE = Path(__file__).parents[2] / "src"

PATIENCE = int(os.environ.get("LIKEWISE_PATIENCE", "180000"))
"""Milliseconds. A machine that does much else may take half a minute to show a page."""


# For this folder and no longer: no other loop of asyncio runs where Playwright does.
@pytest.fixture(scope="package")
def chromium():
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="pip install playwright axe-playwright-python"
    )
    pytest.importorskip("starlette", reason='pip install "likewise[app]"')
    if not Path(CHROMIUM).exists():
        pytest.skip(f"there is no browser at {CHROMIUM}: apt install chromium")
    # A busy machine is slow, not wrong.
    sync_api.expect.set_options(timeout=PATIENCE)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=PATIENCE)
        yield browser
        browser.close()


class Process:
    """`likewise label` in a process of its own, which can be killed and started again."""

    def __init__(self, path, *options, cache, port=0):
        self.command = [str(path), "--no-browser", *map(str, options)]
        self.env = {
            **os.environ,
            "PYTHONPATH": str(SOURCE),
            "XDG_CACHE_HOME": str(cache),
            "PYTHONWARNINGS": "default",
        }
        self.start(port)

    def start(self, port=0):
        # A shell lets what it starts in the background ignore Ctrl-C.
        program = (
            "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
            "from likewise.cli import main; main()"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, "label", *self.command, "--port", str(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.env,
        )
        from likewise.web.links import read_leading

        self.process.stdout.readline()  # the address without the token
        place = self.process.stdout.readline().strip()
        if not place:
            raise AssertionError(self.process.communicate()[1])
        self.address = read_leading(place)
        self.port = urlsplit(self.address).port

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def interrupt(self):
        """End it as Ctrl-C does; return the exit code and what it said."""
        if self.process.poll() is not None:
            return self.process.returncode, ""
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate()[1]
        return self.process.returncode, said


@pytest.fixture
def spawn(tmp_path_factory):
    """Return a function that runs `likewise label` in a process of its own."""
    pytest.importorskip("uvicorn", reason='pip install "likewise[app]"')
    servers = []
    cache = tmp_path_factory.mktemp("cache")

    def start(path, *options, **more):
        servers.append(Process(path, *options, cache=cache, **more))
        return servers[-1]

    yield start
    for server in servers:
        server.interrupt()


class Thread:
    """The same server in a thread, which starts much faster."""

    def __init__(
        self,
        path,
        n_super_instances=None,
        session=None,
        questions="pairs",
        groups=None,
        group_names=None,
        people=(),
        readers=(),
        **options,
    ):
        from likewise.project import open_project
        from likewise.project.people import Person as Named
        from likewise.web.app import Readiness
        from likewise.web.serving import prepare

        found = open_project(
            path,
            questions=questions if n_super_instances is None else None,
            n_super_instances=n_super_instances,
            session=session,
            groups=groups,
            group_names=group_names,
            options=options,
        )
        self.project = found.project
        self.project.gather(people, every=2)
        named = [*map(Named, people), *(Named(name, can_answer=False) for name in readers)]
        tokens = {f"{one.name}.{'x' * 32}": one for one in named}
        readiness = Readiness(Path(path).name, self.project)
        self.served = prepare(readiness, port=0, people=tokens)
        self.address = self.served.address
        self.thread = threading.Thread(target=self.served.run)
        self.thread.start()

    def answer(self, truth, n=10**6):
        """Answer up to `n` questions before anybody opens the page; return the server."""
        from likewise import LabelOracle

        oracle = LabelOracle(truth)
        for _ in range(n):
            question = self.project.ask()
            if question is None:
                break
            chosen = question.place(oracle.answer(question))
            self.project.choose(chosen, number=question.number, position=self.project.position)
        return self

    def stop(self):
        self.served.server.should_exit = True
        self.thread.join()
        self.project.close()


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Return a function that serves a path."""
    pytest.importorskip("uvicorn", reason='pip install "likewise[app]"')
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    servers = []

    def start(path, n_super_instances=None, **options):
        servers.append(Thread(path, n_super_instances, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


class Person:
    """Somebody at the page: presses keys and waits until what follows is painted."""

    def __init__(self, page, truth=None):
        self.page = page
        self.truth = truth
        page.set_default_timeout(PATIENCE)
        self.errors: list[str] = []
        self.foreign: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._hear)
        page.on("dialog", lambda dialog: self.errors.append(f"dialog: {dialog.message}"))

    def _hear(self, message):
        if message.type == "error":
            self.errors.append(message.text)

    def open(self, server, name=None):
        from playwright.sync_api import expect

        self.expect = expect
        self.page.goto(server.served.links[name] if name else server.address)
        expect(self.page.locator("body")).to_have_attribute("data-view", re.compile(r"\w+"))
        self.wait()
        return self

    @property
    def position(self):
        return int(self.page.locator("body").get_attribute("data-position"))

    def fetch(self, path):
        return self.page.evaluate("path => fetch(path).then(r => r.json())", path)

    def do(self, act):
        """Do something that changes the session, and wait until all of the page shows it."""
        before = self.position
        act()
        self.expect(self.page.locator("body")).not_to_have_attribute("data-position", str(before))
        self.wait()

    def wait(self):
        """Wait until nothing is being fetched or saved."""
        self.expect(self.page.locator("main")).not_to_have_attribute("aria-busy", "true")

    def go(self, name):
        """Go to a view by its link, and wait until it is there with all that is in it."""
        self.page.get_by_role("link", name=name, exact=True).click()
        view = {"Questions": "ask", "Groups": "result", "Map": "map", "History": "history"}[name]
        self.expect(self.page.locator("body")).to_have_attribute("data-view", view)
        self.expect(self.page.locator("section:not([hidden]) h1")).to_be_visible()
        self.wait()

    def press(self, key):
        """Press a key that changes something."""
        self.do(lambda: self.page.keyboard.press(key))

    def open_group(self):
        """Open the first group on the page of groups, and wait for its members."""
        self.page.locator(".group .tiles").first.click()
        self.expect(self.page.locator("dialog .member").first).to_be_visible()
        self.wait()

    def right_key(self):
        question = self.fetch("api/query")["question"]
        if question is None:
            return None
        if question["kind"] == "choice":
            own = self.truth[question["item"]["row"]]
            heads = [self.truth[group["shown"][0]["row"]] for group in question["groups"]]
            return question["groups"][heads.index(own)]["key"] if own in heads else "0"
        left, right = question["left"]["row"], question["right"]["row"]
        return "s" if self.truth[left] == self.truth[right] else "d"

    def answer(self, n=10**6):
        """Answer up to `n` questions by the truth; return how many there were."""
        for k in range(n):
            key = self.right_key()
            if key is None:
                return k
            self.press(key)
        return n


@pytest.fixture
def person(chromium):
    """Return a function that opens the page of a server for somebody."""
    contexts = []
    people = []

    def make(server, truth=None, context=None, name=None, **options):
        if context is None:
            options.setdefault("viewport", {"width": 1280, "height": 800})
            context = chromium.new_context(**options)
            contexts.append(context)
        people.append(Person(context.new_page(), truth))
        return people[-1].open(server, name)

    yield make
    for one in people:
        ours = [e for e in one.errors if "Failed to load resource" not in e]
        assert ours == []
    for context in contexts:
        context.close()


@pytest.fixture
def axe():
    """Return a function that looks for rules of accessibility that a page breaks.

    All that were found are told at the end.
    """
    sync = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python"
    )
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    # Only what is broken is described, and the checker is loaded once: a third of the time.
    options = {"runOnly": rules, "resultTypes": ["violations"]}
    checker = sync.Axe().axe_script
    broken = "options => axe.run(options).then(results => results.violations)"
    found: dict[tuple[str, str], list[str]] = {}

    def check(page, name):
        if not page.evaluate("'axe' in window"):
            page.evaluate(checker)
        for one in page.evaluate(broken, options):
            found[name, one["id"]] = [node["html"][:120] for node in one["nodes"]][:3]

    yield check
    assert found == {}


@pytest.fixture(scope="session")
def iris(tmp_path_factory):
    """The path of a table, and the species of every row."""
    from sklearn.datasets import load_iris

    data = load_iris()
    path = tmp_path_factory.mktemp("iris") / "iris.csv"
    # Two flowers are equal; a copy would not be a row of the session.
    species = dict(zip(map(tuple, data.data.tolist()), data.target.tolist(), strict=True))
    lines = [",".join(name.removesuffix(" (cm)") for name in data.feature_names)]
    lines += [",".join(map(str, row)) for row in species]
    path.write_text("\n".join(lines) + "\n")
    return path, list(species.values())


@pytest.fixture
def table(iris, tmp_path):
    path = tmp_path / "iris.csv"
    path.write_bytes(iris[0].read_bytes())
    return path, iris[1]


@pytest.fixture(scope="session")
def digits(tmp_path_factory):
    """A folder of 200 pictures, and the digit on every one."""
    image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    from sklearn.datasets import load_digits

    data = load_digits()
    folder = tmp_path_factory.mktemp("digits") / "digits"
    folder.mkdir()
    for k in range(200):
        pixels = (255 - data.images[k] * 15.9).astype("uint8")
        image.fromarray(pixels).resize((96, 96)).save(folder / f"{k:03d}.png")
    return folder, data.target[:200].tolist()
