import json
import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
KINDS = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}


@pytest.fixture(scope="module")
def document():
    return json.loads((DOCS / "openapi.json").read_text(encoding="utf-8"))


def check(document, schema, value, place):
    """Hold a value to a schema, and refuse fields the schema does not know."""
    if "$ref" in schema:
        return check(document, document["components"]["schemas"][schema["$ref"][21:]], value, place)
    if "oneOf" in schema:
        return value is None or check(document, schema["oneOf"][0], value, place)
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if value is None:
        assert "null" in kinds, place
    elif kinds[0] in KINDS:
        assert isinstance(value, KINDS[kinds[0]]), place
    if schema["type"] == "array":
        for k, one in enumerate(value):
            check(document, schema["items"], one, f"{place}[{k}]")
    if "properties" in schema:
        assert set(schema["required"]) <= set(value), place
        assert set(value) <= set(schema["properties"]), place
        for name, one in value.items():
            check(document, schema["properties"][name], one, f"{place}.{name}")
    return True


def test_the_document_about_it_names_every_call(document):
    text = (DOCS / "api.md").read_text("utf-8")
    assert [path for path in document["paths"] if path not in text] == []


def test_the_file_is_what_its_script_writes(document):
    assert runpy.run_path(str(DOCS / "make_openapi.py"))["DOCUMENT"] == document


def test_every_route_is_described_and_every_description_is_a_route(document):
    app = pytest.importorskip("likewise.web.app", reason='pip install "likewise[app]"')
    routes = {
        (route.path.replace(":int", ""), method.lower())
        for route in app.routes()
        for method in route.methods - {"HEAD"}
    }
    described = {(path, method) for path, found in document["paths"].items() for method in found}
    assert routes == described


def test_the_api_answers_as_described(document, client, truth):
    def of(path, method="get", schema=None):
        found = document["paths"][path][method]["responses"]["200"]["content"]
        return schema or found["application/json"]["schema"]

    state = {"$ref": "#/components/schemas/State"}
    found = client.answer("same").json()
    check(document, of("/api/answer", "post"), found, "answer")
    assert "progress" not in found
    client.answer("unsure")
    body: dict[str, Any] = {"number": 1, "answer": "different", "position": 2}
    check(document, of("/api/revise", "post"), client.change("revise", **body).json(), "revise")
    check(document, of("/api/undo", "post"), client.change("undo", position=2).json(), "undo")
    done = client.finish(truth)
    check(document, state, done, "done")
    position = done["position"]
    first = client.get("/api/checks").json()["checks"][0]
    pair = {"left": first["left"]["row"], "right": first["right"]["row"], "answer": "same"}
    told = client.change("checks", position=position, **pair).json()
    check(document, of("/api/checks", "post"), told, "checks")
    again = {"number": told["repeats"][0]["number"], "answer": "same"}
    told = client.change("repeats", position=told["position"], **again).json()
    check(document, of("/api/repeats", "post"), told, "repeats")
    group = client.get("/api/groups").json()["groups"][0]["id"]
    body = {"position": told["position"], "group": group, "name": "a"}
    check(document, of("/api/name", "post"), client.change("name", **body).json(), "name")
    members = client.get(f"/api/group/{group}?order=doubt").json()["members"]
    rows = [member["row"] for member in members[:3]]
    for deed, body in (
        ("move", {"rows": rows[:2], "to": "new"}),
        ("confirm", {"group": group, "right": rows[2:], "wrong": []}),
    ):
        body["position"] = client.state()["position"]
        check(document, of(f"/api/{deed}", "post"), client.change(deed, **body).json(), deed)
    for path in (
        "query?distance=1",
        "progress",
        "ahead",
        "history",
        "groups",
        "checks",
        "unsure",
        "map",
        "formats",
    ):
        name = f"/api/{path.split('?')[0]}"
        check(document, of(name), client.get(f"/api/{path}").json(), path)
    found = client.get(f"/api/group/{group}").json()
    check(document, of("/api/group/{id}"), found, "group")
    found = client.get(f"/api/group/{group}/parts").json()
    check(document, of("/api/group/{id}/parts"), found, "parts")
    check(document, of("/api/item/{row}"), client.get("/api/item/3").json(), "item")
    check(document, {"$ref": "#/components/schemas/Error"}, client.get("/api/item/99").json(), "?")
