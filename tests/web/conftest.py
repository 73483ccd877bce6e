import asyncio

import numpy as np
import pytest

from likewise.project import open_project

TOKEN = "t0ken-" + "x" * 32
HOME = "http://127.0.0.1"


def write_points(path, n_per_group=12, seed=0):
    """Three groups of points far apart, so that the right answers are known."""
    rng = np.random.default_rng(seed)
    centers = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    rows = np.vstack([c + rng.normal(size=(n_per_group, 2)) for c in centers])
    lines = [f"p{i},{x:.4f},{y:.4f}" for i, (x, y) in enumerate(rows)]
    path.write_text("name,x,y\n" + "\n".join(lines) + "\n")
    return [i // n_per_group for i in range(3 * n_per_group)]


@pytest.fixture
def truth(tmp_path):
    return write_points(tmp_path / "points.csv")


@pytest.fixture
def opened(tmp_path, truth):
    found = open_project(
        tmp_path / "points.csv", n_super_instances=10, options={"id": "name"}, seed=0
    )
    yield found
    found.project.close()


@pytest.fixture
def project(opened):
    return opened.project


class Client:
    """A browser that talks to an app without a network. `change` does what the page does."""

    def __init__(self, app, **options):
        httpx2 = pytest.importorskip("httpx2", reason="pip install httpx2")
        self.runner = asyncio.Runner()
        transport = httpx2.ASGITransport(app)
        options = {"base_url": HOME, **options}
        self.http = httpx2.AsyncClient(transport=transport, **options)

    def request(self, *args, **options):
        return self.runner.run(self.http.request(*args, **options))

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, **options):
        return self.request("POST", path, **options)

    def change(self, path, **body):
        return self.post(f"/api/{path}", json=body, headers={"origin": HOME})

    def state(self):
        return self.get("/api/query").json()

    def answer(self, word, state=None):
        state = state or self.state()
        return self.change(
            "answer",
            position=state["position"],
            question=state["question"]["number"],
            answer=word,
        )

    def finish(self, truth, wrong=(), most=10**6):
        """Answer by the truth to the end, but wrongly where the number is in `wrong`."""
        state = self.state()
        for _ in range(most):
            if state["is_done"]:
                break
            question = state["question"]
            if question["kind"] == "choice":
                heads = [truth[group["shown"][0]["row"]] for group in question["groups"]]
                own = truth[question["item"]["row"]]
                chosen = heads.index(own) if own in heads else None
                body = {"position": state["position"], "question": question["number"]}
                state = self.change("answer", chosen=chosen, **body).json()
                continue
            is_same = truth[question["left"]["row"]] == truth[question["right"]["row"]]
            is_same ^= question["number"] in wrong
            state = self.answer("same" if is_same else "different", state).json()
        return state

    def close(self):
        self.runner.run(self.http.aclose())
        self.runner.close()


@pytest.fixture
def browse():
    """Return a function from an app to a client."""
    clients = []

    def make(app, **options):
        clients.append(Client(app, **options))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def client_for(browse):
    """Return a function from a project to a client that has opened the page."""
    pytest.importorskip("starlette", reason='pip install "likewise[app]"')
    from likewise.web.app import Readiness, app_for

    def make(project):
        client = browse(app_for(Readiness("points.csv", project), token=TOKEN))
        assert client.get("/", params={"token": TOKEN}).status_code == 200
        return client

    return make


@pytest.fixture
def client(project, client_for):
    return client_for(project)


@pytest.fixture
def token():
    return TOKEN
