"""The JSON Schema of layer files, with which editors complete them."""

from typing import Any

from ingestion.layer.entries import DATE_ORDERS

_TEXT: dict[str, Any] = {"type": ["string", "number"]}

_TEXTS: dict[str, Any] = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}

_FLAG = {"type": "boolean"}


def layer_json_schema() -> dict[str, Any]:
    """The schema of one file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Nacre semantic layer",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "prefixes": {"type": "object", "additionalProperties": _TEXT},
            "namespaces": _described(_TEXTS, "Packs only: the namespaces that the layer is about."),
            "extends": _described(_TEXTS, "Files beside this one, which are read first."),
            "languages": _described(_TEXTS, "Which language of labels comes first."),
            "classes": _entries(_CLASS),
            "properties": _entries(_PROPERTY),
            "things": {
                "type": "object",
                "additionalProperties": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}, _object(_NAMES)]},
            },
            "codes": {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": _TEXT}},
            "tables": _described(_entries(_TABLE), "Tables of an attached database."),
            "rules": _described({"type": "array", "items": {"type": "string"}}, "CONSTRUCT queries, in order."),
            "predicates": _described(_entries(_PROPERTY), "Old name of 'properties'."),
        },
    }


def _described(schema: dict[str, Any], text: str) -> dict[str, Any]:
    return schema | {"description": text}


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": fields}


def _entries(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": {"anyOf": [_object(fields), {"type": "null"}]}}


_NAMES: dict[str, Any] = {
    "name": _described(_TEXT, "What people see."),
    "also": _described(_TEXTS, "What people ask with: nouns, verb phrases, adjectives."),
}

_COMMON = _NAMES | {
    "comment": _TEXT,
    "hidden": _described(_FLAG, "Left out of suggestions, pictures and the schema of models; still queryable."),
    "rename": _described(_TEXT, "Old name of 'name'."),
}

_CLASS = _COMMON | {
    "where": _described(_TEXT, "A SPARQL group pattern over ?this: a derived class."),
    "exclude": _described(_FLAG, "Not shown at all."),
}

_TABLE: dict[str, Any] = {
    "names": _described(_TEXTS, "The columns that name a row."),
    "key": _described(_TEXTS, "The columns that tell rows apart."),
    "links": {
        "type": "object",
        "additionalProperties": _described(_TEXT, "The table that the columns refer to, or none."),
    },
    "hidden": _described(_FLAG, "Left out of the graph."),
}

_PROPERTY = _COMMON | {
    "inverse": _described(_TEXTS, "What the property is called from the other end."),
    "unit": _TEXT,
    "of": _described(_TEXTS, "The classes that have a derived property."),
    "path": _described(_TEXT, "A SPARQL property path: a derived property."),
    "where": _described(_TEXT, "A SPARQL group pattern over ?this and ?value: a derived property."),
    "dates": {"enum": [*DATE_ORDERS], "description": "The order of the dates in a column of a spreadsheet."},
    "kind": {"enum": ["name"], "description": "The values name their things."},
    "drop": _described(_FLAG, "Not shown at all."),
}
