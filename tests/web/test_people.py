"""Links for several people: whose answer it is, who may only look, HTTPS, and a proxy."""

import json
import os
import shutil
import ssl
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import numpy as np
import pytest

pytest.importorskip("starlette", reason='pip install "likewise[app]"')

from likewise.errors import InputError
from likewise.project import open_project
from likewise.project.people import Person
from likewise.web import links
from likewise.web.app import Readiness, app_for
from likewise.web.guard import cookie_name
from likewise.web.serving import prepare

TOKENS = {name: links.new_token(name) for name in ("Ana", "Ben", "Zoë")}
PEOPLE = {
    TOKENS["Ana"]: Person("Ana"),
    TOKENS["Ben"]: Person("Ben"),
    TOKENS["Zoë"]: Person("Zoë", can_answer=False),
}


@pytest.fixture
def team(project, browse):
    """A client for everybody, each with the cookie of their own link."""
    project.gather(["Ana", "Ben"], every=2)
    app = app_for(Readiness("points.csv", project), token="own-" + "x" * 30, people=PEOPLE)
    found = {}
    for name, token in TOKENS.items():
        found[name] = browse(app)
        assert found[name].get(f"/?token={token}").status_code == 200
    return found


def test_the_name_is_in_the_token_and_the_cookie_is_of_one_person(team):
    assert TOKENS["Ana"].startswith("Ana.")
    assert TOKENS["Zoë"].startswith("Zo_.")
    cookies = dict(team["Ana"].http.cookies)
    assert cookies == {cookie_name(TOKENS["Ana"]): TOKENS["Ana"]}


def test_answers_are_signed_by_whose_link_it_is(team, project):
    for name in ("Ana", "Ben", "Ana"):
        reply = team[name].answer("same")
        assert reply.status_code == 200
        assert reply.json()["you"] == {"name": name, "can_answer": True}
    assert [row.by for row in project.store.read(0)] == ["Ana", "Ben", "Ana"]


def test_who_may_only_look_changes_nothing(team, project):
    state = team["Zoë"].state()
    assert state["you"] == {"name": "Zoë", "can_answer": False}
    refused = team["Zoë"].answer("same", state)
    assert refused.status_code == 403
    assert "the link of Zoë is for looking only" in refused.json()["error"]
    assert team["Zoë"].get("/api/groups").status_code == 200
    assert project.position == 0


def test_a_link_that_was_revoked_is_a_token_like_any_wrong_one(project, browse):
    app = app_for(Readiness("points.csv", project), token="own-" + "x" * 30)
    assert browse(app).get(f"/?token={TOKENS['Ana']}").status_code == 403


def test_who_is_not_named_any_more_gets_another_link_later(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first = links.kept_tokens(tmp_path / "s", ["Ana", "Ben"])
    assert links.kept_tokens(tmp_path / "s", ["Ben", "Ana"])["Ana"] == first["Ana"]
    without = links.kept_tokens(tmp_path / "s", ["Ben"])
    assert (without["Ben"], without[""]) == (first["Ben"], first[""])
    assert links.kept_tokens(tmp_path / "s", ["Ana", "Ben"])["Ana"] != first["Ana"]


def test_disagreements_are_listed_and_decided(team, project):
    for _ in range(2):
        team["Ana"].answer("same")
    while not team["Ben"].get("/api/agreement").json()["pairs"]:
        team["Ben"].answer("different")
    reply = team["Ben"].get("/api/agreement").json()
    (found,) = reply["disagreements"]
    assert {one["by"]: one["chosen"] for one in found["said"]} == {"Ana": [0], "Ben": []}
    decided = team["Ana"].change(
        "decide", position=reply["position"], disagreement=found["disagreement"], chosen=None
    )
    assert decided.status_code == 200
    reply = team["Ana"].get("/api/agreement").json()
    assert (reply["disagreements"], reply["n_decided"]) == ([], 1)
    bad = team["Ana"].change("decide", position=reply["position"], disagreement=9, chosen=None)
    assert bad.status_code == 400


# The more is known, the longer choices take to learn, so most answers are about pairs.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_each", "options"), [(100, {"n_super_instances": 1200}), (20, {})], ids=["pairs", "choices"]
)
def test_ten_people_at_once_answer_and_no_answer_is_lost_or_doubled(n_each, options, tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(8, size=1500)
    np.save(tmp_path / "many.npy", rng.normal(size=(8, 5))[y] * 4 + rng.normal(size=(1500, 5)))
    project = open_project(tmp_path / "many.npy", seed=0, **options).project
    people = [f"person {k}" for k in range(10)]
    tokens = {name: links.new_token(name) for name in people}
    project.gather(people, every=10)
    served = prepare(
        Readiness("many.npy", project),
        port=0,
        people={token: Person(name) for name, token in tokens.items()},
    )
    thread = threading.Thread(target=served.run, daemon=True)
    thread.start()

    def call(name, path, body=None):
        headers = {"authorization": f"Bearer {tokens[name]}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{served.home}api/{path}", data, headers)
        with urlopen(request, timeout=600) as reply:
            return json.load(reply)

    def work(name):
        numbers = []
        state = call(name, "query")
        for _ in range(n_each):
            question = state["question"]
            if question["kind"] == "pair":
                same = y[question["left"]["row"]] == y[question["right"]["row"]]
                said: dict[str, Any] = {"answer": "same" if same else "different"}
            else:
                row = question["item"]["row"]
                fits = [
                    k for k, g in enumerate(question["groups"]) if y[g["shown"][0]["row"]] == y[row]
                ]
                said = {"chosen": fits[0] if fits else None}
            numbers.append(question["number"])
            body = {"question": question["number"], "position": state["position"], **said}
            state = call(name, "answer", body)
        return numbers

    with ThreadPoolExecutor(10) as pool:
        given = list(pool.map(work, people))
    served.server.should_exit = True
    thread.join()
    everything = [number for numbers in given for number in numbers]
    assert len(everything) == len(set(everything)) == 10 * n_each
    signed = [row.by for row in project.store.read(0)]
    assert len(signed) == 10 * n_each
    assert {name: signed.count(name) for name in people} == dict.fromkeys(people, n_each)
    project.close()


# -- over HTTPS ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with: apt install openssl")
    folder = tmp_path_factory.mktemp("tls")
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
    subprocess.run([*command, *subject, *files], check=True, capture_output=True)
    return folder / "cert.pem", folder / "key.pem"


def trusting(certificate):
    return ssl.create_default_context(cafile=str(certificate[0]))


def test_with_a_certificate_the_page_is_https_and_its_cookie_secure(project, certificate):
    served = prepare(
        Readiness("points.csv", project),
        port=0,
        certificate=(str(certificate[0]), str(certificate[1])),
    )
    thread = threading.Thread(target=served.run, daemon=True)
    thread.start()
    assert served.address.startswith("https://127.0.0.1:")
    with urlopen(served.address, context=trusting(certificate), timeout=600) as reply:
        assert reply.status == 200
        assert "; Secure" in reply.headers["set-cookie"]
    served.server.should_exit = True
    thread.join()


def test_what_is_no_certificate_is_refused_by_its_name(project, tmp_path):
    (tmp_path / "cert.pem").write_text("no certificate")
    with pytest.raises(InputError, match=r"cert\.pem cannot be used as a certificate"):
        prepare(
            Readiness("points.csv", project),
            port=0,
            certificate=(str(tmp_path / "cert.pem"), None),
        )


def test_nothing_waits_for_the_password_of_a_key_or_for_a_pipe(project, certificate, tmp_path):
    locked, pipe = tmp_path / "locked.pem", tmp_path / "pipe.pem"
    make = ["openssl", "rsa", "-aes128", "-passout", "pass:abcd", "-in", str(certificate[1])]
    subprocess.run([*make, "-out", str(locked)], check=True, capture_output=True)
    os.mkfifo(pipe)
    for key, why in ((locked, "without a password"), (pipe, "is a pipe")):
        with pytest.raises(InputError, match=why):
            prepare(
                Readiness("points.csv", project),
                port=0,
                certificate=(str(certificate[0]), str(key)),
            )


NGINX = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {cert}; ssl_certificate_key {key};
    location / {{
      proxy_pass http://127.0.0.1:{inner};
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-Proto $scheme;
    }}
  }}
}}
"""
"""What docs/guide/teams.md shows, with ports and folders of the test."""


@pytest.mark.slow
def test_behind_nginx_people_answer_over_https(project, certificate, tmp_path, free_port):
    if shutil.which("nginx") is None:
        pytest.skip("there is no nginx here: apt install nginx-light")
    project.gather(["Ana"], every=0)
    served = prepare(
        Readiness("points.csv", project), port=0, people={TOKENS["Ana"]: Person("Ana")}
    )
    thread = threading.Thread(target=served.run, daemon=True)
    thread.start()
    (tmp_path / "nginx.conf").write_text(
        NGINX.format(
            folder=tmp_path,
            port=free_port,
            inner=served.port,
            cert=certificate[0],
            key=certificate[1],
        )
    )
    command = ["nginx", "-c", str(tmp_path / "nginx.conf"), "-p", str(tmp_path)]
    nginx = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        home = f"https://localhost:{free_port}"
        opener = _patient(trusting(certificate))
        with opener(Request(f"{home}/?token={TOKENS['Ana']}")) as reply:
            cookie = reply.headers["set-cookie"].split(";")[0]
            assert "; Secure" in reply.headers["set-cookie"]
        headers = {"cookie": cookie, "origin": home, "content-type": "application/json"}
        with opener(Request(f"{home}/api/query", headers={"cookie": cookie})) as reply:
            state = json.load(reply)
        said = {"question": state["question"]["number"], "answer": "same"}
        body = json.dumps({"position": state["position"], **said}).encode()
        with opener(Request(f"{home}/api/answer", body, headers)) as reply:
            assert reply.status == 200
        assert [row.by for row in project.store.read(0)] == ["Ana"]
    finally:
        nginx.terminate()
        nginx.wait()
        served.server.should_exit = True
        thread.join()


def _patient(context):
    """Return a function that opens an address, again while the proxy has not begun to listen."""

    def opened(request):
        for _ in range(10_000):
            try:
                return urlopen(request, context=context, timeout=600)
            except ConnectionRefusedError:
                continue
            except OSError as error:
                if not isinstance(getattr(error, "reason", None), ConnectionRefusedError):
                    raise
        raise AssertionError(f"nothing listens at {urlsplit(request.full_url).netloc}")

    return opened


@pytest.fixture
def free_port():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
