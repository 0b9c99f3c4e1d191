"""JSON-LD whose contexts or nesting take much memory or time: nothing -> the content of a file."""

from typing import Any

Content = str | list[dict[str, Any]] | dict[str, Any]
DEEP = 20_000


def deep_files() -> dict[str, str]:
    """JSON-LD that is nested deeply, by what is nested."""
    return {
        "contexts": '{"@context":{"p":"http://e/p"},"p":' * DEEP + '"x"' + "}" * DEEP,
        "contexts in terms": (
            '{"@context":' + '{"p":{"@id":"http://e/p","@context":' * DEEP + "{}" + "}}" * DEEP + ',"p":"x"}'
        ),
        "lists": '{"@id":"http://e/1","http://e/p":' + "[" * 60_000 + '"x"' + "]" * 60_000 + "}",
        "nodes": '{"@id":"http://e/1","http://e/p":' + '{"http://e/p":' * DEEP + '"x"' + "}" * (DEEP + 1),
    }


def own_contexts(number: int) -> list[dict[str, Any]]:
    """Nodes with a context each."""
    return [{"@context": {"t": "http://e/t"}, "@id": f"http://e/{i}", "t": f"{i}"} for i in range(number)]


def named_contexts(number: int) -> list[dict[str, Any]]:
    """Nodes that each name a large context that Nacre has."""
    return [{"@context": "https://schema.org", "@id": f"http://e/{i}", "name": f"{i}"} for i in range(number)]


def copied_terms(terms: int, nodes: int) -> dict[str, Any]:
    """A context with many terms, copied by the context of each node."""
    many = {f"t{i}": f"http://e/t{i}" for i in range(terms)}
    own = [{"@context": {"u": "http://e/u"}, "@id": f"http://e/{i}", "u": "x"} for i in range(nodes)]
    return {"@context": many, "@graph": own}


def doubling_context(path: str, last: int) -> dict[str, Any]:
    """The context at a path /N of a server: it names the next one twice, up to the last."""
    number = int(path[1:])
    return {"@context": [f"/{number + 1}"] * 2 if number < last else {"t": "http://e/t"}}


def scoped_terms(terms: int, nodes: int) -> dict[str, Any]:
    """A context of a property with many terms, which applies three times in each of many nodes."""
    scoped = {f"z{number}": f"http://z/{number}" for number in range(terms)}
    graph = [{"@id": f"http://e/{number}", "q": {"q": {"q": {"z1": "v"}}}} for number in range(nodes)]
    return {"@context": {"@vocab": "http://e/", "q": {"@id": "q", "@context": scoped}}, "@graph": graph}
