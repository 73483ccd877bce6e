"""Write generated/http-api.md, one section for each call, from openapi.json."""

import json


def write_http_pages(docs):
    """Write the page, unless it is there with the same content."""
    target = docs / "generated" / "http-api.md"
    text = page(json.loads((docs / "openapi.json").read_text("utf-8")))
    if not target.exists() or target.read_text("utf-8") != text:
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, encoding="utf-8")


def page(document):
    """Return all calls, then all shapes, as Markdown."""
    parts = ["# Calls and shapes", "", "Made from [openapi.json](../openapi.json).", "", "## Calls"]
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            parts += ["", f"### `{method.upper()} {path}`", "", call["summary"] + "."]
            parts += fields("Parameter", parameters(call))
            parts += fields("Body", body(call))
            parts += replies(call)
    parts += ["", "## Shapes"]
    for name, schema in document["components"]["schemas"].items():
        parts += ["", f"### {name}"]
        if "description" in schema:
            parts += ["", schema["description"]]
        parts += fields("Field", properties(schema)) or ["", kind(schema)]
    return "\n".join(parts) + "\n"


def parameters(call):
    """Return name, kind and description of what is in the address."""
    return [
        (p["name"], kind(p["schema"]), p.get("description", "")) for p in call.get("parameters", [])
    ]


def body(call):
    """Return name, kind and description of what is sent."""
    content = call.get("requestBody", {}).get("content", {})
    return [row for media in content.values() for row in properties(media["schema"])]


def properties(schema):
    """Return name, kind and description of an object's fields; optional ones say so."""
    needed = schema.get("required", [])
    return [
        (
            name,
            kind(part) + ("" if name in needed else ", optional"),
            part.get("description", ""),
        )
        for name, part in schema.get("properties", {}).items()
    ]


def replies(call):
    """Return one line for each reply with a shape."""
    lines = []
    for status, reply in call["responses"].items():
        shapes = [kind(m["schema"]) for m in reply.get("content", {}).values() if "schema" in m]
        said = reply.get("description", "")
        lines.append(f"- **{status}** {said}{': ' if said and shapes else ''}{', '.join(shapes)}")
    return ["", *lines]


def kind(schema):
    """Return in a few words what values a schema allows."""
    if "$ref" in schema:
        name = schema["$ref"].split("/")[-1]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    for several in ("oneOf", "anyOf"):
        if several in schema:
            return " or ".join(kind(part) for part in schema[several])
    if schema.get("type") == "array":
        return "list of " + kind(schema.get("items", {}))
    named = schema.get("type", "anything")
    return " or ".join(named) if isinstance(named, list) else str(named)


def fields(title, rows):
    """Return a table, or nothing for no rows."""
    if not rows:
        return []
    lines = [f"| `{name}` | {of_kind} | {words} |" for name, of_kind, words in rows]
    return ["", f"| {title} | kind | |", "|---|---|---|", *lines]
