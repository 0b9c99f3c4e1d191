"""The API's documentation as one page without scripts: OpenAPI document -> HTML."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
section { border-top: 1px solid #8888; padding: 0.5rem 0 1rem; }
h3 { margin: 0.5rem 0; font-weight: normal; }
h3 b { display: inline-block; min-width: 4.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.2rem 1rem 0.2rem 0; }
p { margin: 0.4rem 0; white-space: pre-line; }
nav a { display: block; overflow-wrap: anywhere; }
"""
METHODS = ("get", "post", "put", "patch", "delete")
SCHEMAS = "#/components/schemas/"


def api_docs_page(spec: Mapping[str, Any], spec_url: str) -> str:
    """All operations with their parameters, bodies and replies, and all schemas, each with an anchor of its own."""
    operations = list(_operations(spec))
    links = "".join(
        f'<a href="#{_anchor(method, path)}"><code>{method.upper()} {escape(path)}</code></a>'
        for method, path, _ in operations
    )
    schemas = spec.get("components", {}).get("schemas", {})
    title = escape(str(spec["info"]["title"]))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title}: the API</title><link rel="icon" href="data:,"><style>{STYLE}</style></head><body><main>'
        f"<h1>{title}: the API</h1><p>{escape(str(spec['info'].get('description', '')))}</p>"
        f'<p>For programs: <a href="{escape(spec_url)}">{escape(spec_url)}</a></p>'
        f'<nav aria-label="Operations">{links}</nav>'
        f"<h2>Operations</h2>{''.join(_operation(*each) for each in operations)}"
        f"<h2>Schemas</h2>{''.join(_schema(name, each) for name, each in sorted(schemas.items()))}"
        "</main></body></html>"
    )


def _operations(spec: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, item in spec["paths"].items():
        for method in METHODS:
            if method in item:
                yield method, path, item[method]


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    parts = [f'<section id="{_anchor(method, path)}"><h3><b>{method.upper()}</b> <code>{escape(path)}</code></h3>']
    parts.append(f"<p>{escape(str(operation.get('description') or operation.get('summary') or ''))}</p>")
    rows = [
        (each["name"], each["in"] + ("" if each.get("required") else ", optional"), each.get("schema", {}), each)
        for each in operation.get("parameters", ())
    ]
    parts.append(
        _table("Parameters", [(name, where, _type(kind), _notes(kind, each)) for name, where, kind, each in rows])
    )
    body = operation.get("requestBody", {}).get("content", {})
    parts.append(_table("Body", [(kind, "", _type(each.get("schema", {})), "") for kind, each in body.items()]))
    replies = [
        (status, kind, _type(each.get("schema", {})), escape(str(reply.get("description", ""))))
        for status, reply in operation.get("responses", {}).items()
        for kind, each in (reply.get("content") or {"": {}}).items()
    ]
    parts.append(_table("Replies", replies))
    return "".join([*parts, "</section>"])


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    required = set(schema.get("required", ()))
    rows = [
        (field, "" if field in required else "optional", _type(kind), _notes(kind, kind))
        for field, kind in schema.get("properties", {}).items()
    ]
    text = f"<p>{escape(str(schema.get('description', '')))}</p>{_table('Fields', rows) if rows else _type(schema)}"
    return f'<section id="schema-{escape(name)}"><h3><code>{escape(name)}</code></h3>{text}</section>'


def _table(caption: str, rows: list[tuple[str, str, str, str]]) -> str:
    """Rows of name, place, type and notes; the last two are HTML."""
    if not rows:
        return ""
    lines = "".join(
        f'<tr><th scope="row"><code>{escape(name)}</code></th>'
        f"<td>{escape(where)}</td><td>{kind}</td><td>{notes}</td></tr>"
        for name, where, kind, notes in rows
    )
    return f"<table><caption>{caption}</caption>{lines}</table>"


def _type(schema: Mapping[str, Any]) -> str:
    """A type in a few words, with links to named schemas."""
    if "$ref" in schema:
        name = escape(str(schema["$ref"]).removeprefix(SCHEMAS))
        return f'<a href="#schema-{name}"><code>{name}</code></a>'
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(map(_type, schema[several])))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"<code>{escape(repr(each))}</code>" for each in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return escape(str(schema.get("type", "any")))


def _notes(schema: Mapping[str, Any], described: Mapping[str, Any]) -> str:
    """The description, the bounds and the default."""
    bounds = [
        f"{words} {schema[key]}"
        for key, words in (
            ("minimum", "at least"),
            ("maximum", "at most"),
            ("maxLength", "characters: at most"),
            ("default", "default:"),
        )
        if schema.get(key) not in (None, "")
    ]
    return escape(". ".join(filter(None, [str(described.get("description", "")).rstrip("."), *bounds])))


def _anchor(method: str, path: str) -> str:
    return escape(f"{method}{path}".replace("{", "").replace("}", "").replace("/", "-"))
