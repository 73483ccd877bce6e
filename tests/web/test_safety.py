"""Each test attacks the page in one way."""

import io
import ipaddress
import os
import re
import socket
import stat
import sys
from pathlib import Path

import pytest

from likewise.page.document import STATIC
from likewise.project import open_project

MISSING = 'pip install "likewise[app]"'
Image = pytest.importorskip("PIL.Image", reason=MISSING)
app = pytest.importorskip("likewise.web.app", reason=MISSING)
guard = pytest.importorskip("likewise.web.guard", reason=MISSING)
app_for, Readiness, cookie_name = app.app_for, app.Readiness, guard.cookie_name
serving = pytest.importorskip("likewise.web.serving", reason=MISSING)
links = pytest.importorskip("likewise.web.links", reason=MISSING)

HOME = "http://127.0.0.1"
ANSWER = {"position": 0, "question": 1, "answer": "same"}
HOSTILE = [
    "<script>alert(1)<script>.png",
    "\"onerror='alert(1)'.png",
    "\u202egnp.evil.png",
    "%2e%2e%2fetc%2fpasswd.png",
    "😀 & amp;.png",
    "a'b`c${1}.png",
]


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "photos"
    found.mkdir()
    for k, name in enumerate(HOSTILE):
        Image.new("RGB", (16, 16), (40 * k, 255 - 40 * k, 9)).save(found / name)
    return found


@pytest.fixture
def pictures(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    project = open_project(folder, options={"encoder": "layout"}).project
    yield project
    project.close()


@pytest.fixture
def stranger(project, browse, token):
    """A client that has not been shown the token."""
    return browse(app_for(Readiness("points.csv", project), token=token))


# -- who may ask -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "",
        "localhost.evil:80",
        "[::1].evil.com",
        "[::1]evil.com",
        "[::1",
        "[::1]:80.evil.com",
        "localhost:80.evil.com",
        "localhost:evil.com",
        "127.0.0.1:80@evil.com",
        "::1]",
        "[]",
    ],
)
def test_a_rebound_name_is_refused_even_with_the_cookie(client, host):
    for path in ("/", "/api/query", "/static/main.js"):
        assert client.get(path, headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:9", "localhost:123", "[::1]:80", "LOCALHOST"])
def test_the_names_of_this_machine_are_known(client, host):
    assert client.get("/static/main.js", headers={"host": host}).status_code == 200


def test_every_ip_address_is_a_name_when_listening_everywhere_but_no_rebound_name(
    project, browse, token
):
    client = browse(app_for(Readiness("points.csv", project), token=token, hosts=["*"]))
    assert client.get("/static/main.js", headers={"host": "192.168.1.7:80"}).status_code == 200
    assert client.get("/static/main.js", headers={"host": "evil.example"}).status_code == 421


def test_without_the_token_nothing_is_told(stranger):
    for path in ("/", "/api/query", "/api/export/csv", "/api/item/0", "/api/item/0/image"):
        reply = stranger.get(path)
        assert reply.status_code == 403
        assert "p0" not in reply.text
        assert "set-cookie" not in reply.headers
    assert stranger.change("answer", **ANSWER).status_code == 403
    assert stranger.get("/?token=guess").status_code == 403
    assert stranger.get("/api/query", headers={"authorization": "Bearer guess"}).status_code == 403
    assert stranger.get("/api/query", headers={"cookie": "likewise=1; x"}).status_code == 403


def test_a_browser_without_the_cookie_is_told_what_to_do(stranger):
    browser = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for path in ("/", "/api/query"):
        reply = stranger.get(path, headers=browser)
        assert reply.status_code == 403
        assert reply.headers["content-type"] == "text/html; charset=utf-8"
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        assert "run the <code>likewise label</code> command again" in reply.text
        assert "set-cookie" not in reply.headers
    program = stranger.get("/api/query", headers={"accept": "*/*"})
    assert "token included" in program.json()["error"]


def test_a_hostile_name_of_the_server_is_escaped(stranger):
    headers = {"accept": "text/html", "host": "<script>alert(1)</script>"}
    reply = stranger.get("/", headers=headers)
    assert reply.status_code == 421
    assert "<script" not in reply.text
    assert "&lt;script&gt;" in reply.text


def test_the_token_in_the_address_opens_the_page_only(stranger, token):
    assert stranger.get(f"/api/query?token={token}").status_code == 403
    assert stranger.post(f"/api/undo?token={token}", json={"position": 0}).status_code == 403


def test_the_cookie_is_http_only_and_strict_and_named_for_its_token(stranger, token):
    cookie = stranger.get(f"/?token={token}").headers["set-cookie"]
    assert cookie.startswith(f"{cookie_name(token)}={token};")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert cookie_name(token) != cookie_name(token + "x")
    for path, host in ((f"/?token={token}", "evil.example"), ("/?token=guess", "localhost")):
        assert "set-cookie" not in stranger.get(path, headers={"host": host}).headers


def test_a_program_may_use_the_token_as_a_bearer(stranger, token):
    headers = {"authorization": f"Bearer {token}"}
    assert stranger.get("/api/query", headers=headers).status_code == 200
    assert stranger.post("/api/answer", json=ANSWER, headers=headers).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:81", ""])
def test_a_change_from_another_site_is_refused_even_with_the_cookie(client, origin):
    reply = client.post("/api/answer", json=ANSWER, headers={"origin": origin})
    assert reply.status_code == 403
    assert client.state()["position"] == 0


def test_a_change_with_a_cookie_and_no_origin_is_refused(client):
    assert client.post("/api/answer", json=ANSWER).status_code == 403
    headers = {"origin": HOME, "sec-fetch-site": "cross-site"}
    assert client.post("/api/answer", json=ANSWER, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_what_a_form_of_another_site_can_send_is_refused(client, kind):
    body = b'{"position":0,"question":1,"answer":"same"}'
    headers = {"origin": HOME, "content-type": kind}
    assert client.post("/api/answer", content=body, headers=headers).status_code == 415


@pytest.mark.parametrize("path", ["group", "item"])
def test_a_number_of_thousands_of_digits_is_refused(client, path):
    reply = client.get(f"/api/{path}/{'9' * 5000}")
    assert reply.status_code == 414
    assert "at most 1024 characters" in reply.json()["error"]


def test_a_huge_request_is_refused_unread(client):
    headers = {"origin": HOME, "content-type": "application/json"}
    assert client.post("/api/name", content=b"x" * 70_000, headers=headers).status_code == 413
    endless = {**headers, "content-length": "5" * 5000}
    assert client.post("/api/name", content=b"{}", headers=endless).status_code == 413


@pytest.mark.parametrize("body", [b"[" * 30_000, b'{"a":' * 10_000 + b"1" + b"}" * 10_000])
@pytest.mark.parametrize("limit", [1000, 20_000])
def test_a_deeply_nested_request_is_refused(client, body, limit):
    headers = {"origin": HOME, "content-type": "application/json"}
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)  # other packages raise it; how deep JSON may be depends on it
    try:
        reply = client.post("/api/name", content=body, headers=headers)
    finally:
        sys.setrecursionlimit(before)
    assert reply.status_code == 400
    assert client.get("/api/groups").json()["groups"][0]["name"] == ""


@pytest.mark.parametrize("name", ["\\ud800", "a\\u0000b", "\\u001b[31m", "two\\nlines"])
def test_a_name_that_cannot_be_stored_or_shown_is_refused(client, name):
    group = client.get("/api/groups").json()["groups"][0]["id"]
    body = f'{{"position": 0, "group": {group}, "name": "{name}"}}'.encode()
    headers = {"origin": HOME, "content-type": "application/json"}
    reply = client.post("/api/name", content=body, headers=headers)
    assert reply.status_code == 400
    assert "control characters" in reply.json()["error"]
    assert client.get("/api/groups").json()["groups"][0]["name"] == ""


def test_a_change_by_get_is_refused(client):
    assert client.get("/api/undo").status_code == 405
    assert client.get("/api/answer", params={"answer": "same"}).status_code == 405


def test_the_server_listens_on_this_machine_only():
    with serving.listen("127.0.0.1", 0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


def test_a_reply_in_two_parts_does_not_wait_for_a_confirmation_of_the_first():
    with (
        serving.listen("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_listening_everywhere_prints_an_address_that_others_can_use(project, monkeypatch):
    monkeypatch.setattr(serving, "own_address", lambda is_v6: "fe80::7" if is_v6 else "10.0.0.7")
    for host, shown in (("0.0.0.0", "http://10.0.0.7:"), ("127.0.0.1", "http://127.0.0.1:")):
        served = serving.prepare(Readiness("points.csv", project), host=host, port=0)
        served.listener.close()
        assert served.address.startswith(shown)


def test_the_own_address_is_one(monkeypatch):
    ipaddress.ip_address(serving.own_address())
    monkeypatch.setattr("socket.socket.connect", no_way)
    assert serving.own_address() == "127.0.0.1"
    assert serving.own_address(is_v6=True) == "::1"


def no_way(*_):
    raise OSError("network is unreachable")


def test_only_other_addresses_than_the_own_are_open_to_others():
    assert all(serving.is_local(h) for h in ("127.0.0.1", "localhost", "[::1]", "127.0.1.1"))
    assert not any(serving.is_local(h) for h in ("0.0.0.0", "::", "", "10.0.0.7"))


def test_a_token_is_kept_for_its_owner_only_and_not_in_the_session_file(
    opened, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = links.kept_tokens(opened.path)[""]
    assert links.kept_tokens(opened.path) == {"": found}
    assert links.kept_tokens(tmp_path / "other") != {"": found}
    (kept, _) = sorted((tmp_path / "cache" / "likewise" / "tokens").iterdir(), key=_has(found))
    if os.name == "posix":
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert found.encode() not in opened.path.read_bytes()
    links.forget_token(opened.path)
    assert links.kept_tokens(opened.path) != {"": found}


def _has(token):
    return lambda place: token not in place.read_text()


def test_a_token_that_cannot_be_kept_is_one_for_this_run(tmp_path, monkeypatch):
    (tmp_path / "cache").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert links.kept_tokens(tmp_path / "x") != links.kept_tokens(tmp_path / "x")


@pytest.mark.parametrize("content", ["", "[1]", "nonsense", '{"": 5}', '{"Ana": "x"}', "\x00"])
def test_tokens_that_are_damaged_are_made_again(tmp_path, monkeypatch, content):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    links.kept_tokens(tmp_path / "x", ["Ana"])
    (place,) = (tmp_path / "cache" / "likewise" / "tokens").iterdir()
    place.write_text(content)
    found = links.kept_tokens(tmp_path / "x", ["Ana"])
    assert found["Ana"].startswith("Ana.")
    assert min(map(len, found.values())) >= 32
    assert links.kept_tokens(tmp_path / "x", ["Ana"]) == found


def test_the_private_file_leads_to_the_page_and_only_its_owner_can_read_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    address = "http://127.0.0.1:8642/?token=a-b_c"
    place = links.write_leading(address, 8642)
    assert links.read_leading(place.as_uri()) == address
    if os.name == "posix":
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert 'name="referrer" content="no-referrer"' in place.read_text()


# -- what is sent ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/", "/api/query", "/static/main.js", "/nowhere", "/api/export/csv"]
)
def test_every_answer_has_the_strict_headers(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("broken", ["page", "call", "guard"])
def test_an_error_of_the_server_has_the_same_headers_and_no_details(
    client, stranger, monkeypatch, broken
):
    def fail(*_args, **_options):
        raise RuntimeError("a secret detail")

    place = {"page": "app.document", "call": "app.reply", "guard": "guard._without_port"}[broken]
    monkeypatch.setattr(f"likewise.web.{place}", fail)
    for browser in (client, stranger) if broken == "guard" else (client,):
        browser.http._transport.raise_app_exceptions = False  # as uvicorn, which logs them
        reply = browser.get("/" if broken == "page" else "/api/query")
        assert reply.status_code == 500
        assert guard.ALWAYS.items() <= dict(reply.headers).items()
        assert "the server failed" in reply.json()["error"]
        assert "secret" not in reply.text


def test_text_that_cannot_be_encoded_is_sent_as_escapes(client, browse, monkeypatch):
    monkeypatch.setattr("likewise.web.app.reply", lambda *_: (400, {"error": "caf\udce9.csv"}))
    reply = client.get("/api/query")
    assert reply.status_code == 400
    assert reply.json() == {"error": "caf\udce9.csv"}
    assert "caf\\xe9" in browse(app_for(Readiness("caf\udce9"), token=None)).get("/").text


def test_what_is_private_is_not_stored_by_caches_between(client):
    assert client.get("/api/query").headers["cache-control"] == "no-store"
    assert client.get("/").headers["cache-control"] == "no-store"


def test_the_page_has_no_inline_script_or_style_and_nothing_from_elsewhere(client):
    html = client.get("/").text
    assert re.findall(r"<script(?![^>]*\bsrc=)", html) == []
    assert not re.search(r"\son\w+=|style=|<style|javascript:", html)
    assert re.findall(r"(?:src|href)=\"(?:https?:)?//", html) == []


def test_no_static_file_names_another_server():
    for path in STATIC.iterdir():
        found = re.findall(r"https?://[^\s\"')]+", path.read_text(encoding="utf-8"))
        assert set(found) <= {"http://www.w3.org/2000/svg"}, path


def test_markup_is_built_from_text_only():
    for path in STATIC.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert way not in text, (path, way)


def test_a_hostile_name_of_the_input_is_escaped_on_the_page(tmp_path, client_for, truth):
    path = tmp_path / "points.csv"
    hostile = path.rename(tmp_path / '<img src=x onerror=alert(1)>&".csv')
    project = open_project(hostile, n_super_instances=5).project
    html = client_for(project).get("/").text
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;&amp;&quot;.csv" in html
    project.close()


# -- files -----------------------------------------------------------------------------------------


def test_pictures_with_hostile_names_are_served_by_number(pictures, client_for):
    client = client_for(pictures)
    ids = set(pictures.ids)
    assert any("<script>" in name for name in ids)
    for row in range(len(ids)):
        reply = client.get(f"/api/item/{row}/image")
        assert reply.status_code == 200
        assert reply.headers["content-type"] == "image/webp"
        assert Image.open(io.BytesIO(reply.content)).format == "WEBP"


@pytest.mark.parametrize(
    "path",
    [
        "/api/item/../../../../etc/passwd/image",
        "/api/item/%2e%2e%2f%2e%2e%2fetc%2fpasswd/image",
        "/api/item/0.png/image",
        "/api/item/-1/image",
        "/api/item/99999999999999999999/image",
        "/api/item/0/image?size=../../etc/passwd",
        "/api/item/0/image?size=100000",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/api/export/../../etc/passwd",
        "/api/export/csv%00",
        "/api/export/this:d",
        f"/api/find?rows={'9' * 5000}",
        "/api/find?rows=99",
    ],
)
def test_no_path_leads_out(pictures, client_for, path):
    reply = client_for(pictures).get(path)
    assert reply.status_code in (400, 404)
    assert "this" not in sys.modules  # a request cannot import a module
    assert b"root:" not in reply.content
    assert b"def app_for" not in reply.content


def test_a_link_out_of_the_folder_is_not_followed(folder, tmp_path):
    secret = tmp_path / "secret.png"
    Image.new("RGB", (4, 4)).save(secret)
    (folder / "link.png").symlink_to(secret)
    (folder / "dir").symlink_to(tmp_path)
    said: list[str] = []
    options = {"encoder": "layout", "cache": False}
    project = open_project(folder, options=options, say=said.append).project
    assert "link.png" not in project.ids
    assert not any("secret" in name for name in project.ids)
    assert any("link.png: a link to outside" in line for line in said)
    project.close()


def test_a_picture_swapped_for_a_link_while_the_page_runs_is_not_followed(
    pictures, client_for, folder, tmp_path
):
    secret = tmp_path / "secret.png"
    Image.new("RGB", (40, 40), (1, 2, 3)).save(secret)
    path = Path(pictures.items.location(0))
    path.unlink()
    path.symlink_to(secret)
    reply = client_for(pictures).get("/api/item/0/image")
    shown = Image.open(io.BytesIO(reply.content)).convert("RGB")
    assert reply.status_code == 200
    assert shown.size != (40, 40)


def test_svg_and_html_are_never_served_as_such(folder, client_for):
    (folder / "active.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
    )
    (folder / "active.html").write_text("<script>alert(1)</script>")
    (folder / "posing.png").write_text("<svg onload=alert(1)><script>alert(1)</script></svg>")
    options = {"encoder": "layout", "cache": False}
    project = open_project(folder, options=options).project
    client = client_for(project)
    assert "active.html" not in project.ids
    # With the extra "formats" drawings are items, and are shown as pictures made of them.
    for name in {"active.svg", "posing.png"} & set(project.ids):
        reply = client.get(f"/api/item/{project.ids.index(name)}/image")
        assert reply.headers["content-type"] == "image/webp"
        assert reply.content[8:12] == b"WEBP"
    project.close()


def test_a_decompression_bomb_and_a_broken_picture_get_a_placeholder(folder, client_for):
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 not really")
    # A header that promises 60 000 x 60 000 pixels.
    header = b"P5 60000 60000 255\n"
    (folder / "bomb.pgm").write_bytes(header + b"\0" * 100)
    options = {"encoder": "layout", "cache": False}
    project = open_project(folder, options=options).project
    client = client_for(project)
    for name in ("broken.jpg", "bomb.pgm"):
        row = project.ids.index(name)
        assert client.get(f"/api/item/{row}/image").status_code == 200
        assert client.get(f"/api/item/{row}").json()["item"]["view"]["broken"] is True
        assert row not in project.session.strategy.askable()
    assert client.state()["question"] is not None
    project.close()


@pytest.mark.parametrize(
    ("header", "name"),
    [("localhost:80", "localhost"), ("[::1]:80", "::1"), ("::1", "::1"), ("[::1].evil.com", "")],
)
def test_the_name_in_a_host_header(header, name):
    assert guard._without_port(header) == name
