"""Write layer files: names that people give to classes and properties, and entries -> YAML.

New entries are added to a file and what stands there stays. Names from the page have a file of their own, with who
changed them and when. For editors: a template of a graph's classes and properties, and the JSON Schema of layer files.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, SequenceNode

from ingestion.layer.entries import ClassEntry, Layer, PropertyEntry
from ingestion.layer.layer_file import DATE_ORDERS, LayerFile, LayerFiles, read_layer, read_yaml
from ingestion.layer.resolve import Kind
from nacre.errors import IngestionError
from nacre.language.sanitize import strip_control_characters
from nacre.records.schema import Schema

PEOPLE = "people.yaml"

# changes that the file lists, the last ones, and names of one class or property (given)
MAX_CHANGES, MAX_NAMES = 200, 30

_SECTIONS: dict[Kind, str] = {"class": "classes", "property": "properties"}


def names_from_people(layers: LayerFiles) -> Mapping[tuple[Kind, str], tuple[str, ...]]:
    """The other names that people gave, by kind and IRI."""
    names: dict[tuple[Kind, str], tuple[str, ...]] = {}
    for entry in (entry for each in layers.files if each.name == PEOPLE for entry in _people(each.text).entries):
        if isinstance(entry, ClassEntry):
            names["class", entry.key] = entry.also
        elif isinstance(entry, PropertyEntry):
            names["property", entry.key] = entry.also
    return names


def with_names(layers: LayerFiles, kind: Kind, iri: str, also: Sequence[str], *, who: str, when: str) -> LayerFile:
    """The file with other names for one class or property instead of those that it had; none removes the entry. Raises
    IngestionError for names that no layer may have."""
    present = next((each.text for each in layers.files if each.name == PEOPLE), "")
    changes = [line for line in present.splitlines() if line.startswith("# ")]
    sections: dict[str, Any] = yaml.safe_load(present) or {}
    # those files are stored before this one
    sections.pop("extends", None)
    entries = dict(sections.get(_SECTIONS[kind]) or {})
    names = list(dict.fromkeys(name for each in also if (name := strip_control_characters(each).strip())))
    if names:
        entries[iri] = {"also": names}
    else:
        entries.pop(iri, None)
    sections[_SECTIONS[kind]] = entries
    changes.append(f"# {when} {who}: {' '.join(strip_control_characters(iri).split())}")
    text = "\n".join(changes[-MAX_CHANGES:]) + "\n" + layer_text(sections)
    _people(text)
    return LayerFile(PEOPLE, text)


def with_further_name(layers: LayerFiles, kind: Kind, iri: str, name: str, *, who: str, when: str) -> LayerFile:
    """The file with one more name for a class or property. Raises IngestionError if it has too many, or as
    `with_names`."""
    given = names_from_people(layers).get((kind, iri), ())
    if len(given) >= MAX_NAMES:
        raise IngestionError(f"It has {len(given)} other names already. Remove one first.")
    return with_names(layers, kind, iri, (*given, name), who=who, when=when)


def _people(text: str) -> Layer:
    return read_layer(Path(PEOPLE), text)


Sections = Mapping[str, Any]

# sections of a layer in the order in which they are written
ORDER = ("prefixes", "classes", "properties", "things", "codes", "rules")


def layer_text(sections: Sections) -> str:
    """A file with these sections, an entry a line where it fits."""
    return "".join(f"{name}:\n{_block(sections[name], 2)}" for name in ORDER if sections.get(name))


def add_to_text(text: str, sections: Sections) -> str:
    """The text with the entries that it lacks, each at the end of its section. Its own lines stay as they are.

    >>> add_to_text("classes:\\n  a: {name: b}  # mine\\n", {"classes": {"a": {"name": "x"}, "c": {"name": "d"}}})
    'classes:\\n  a: {name: b}  # mine\\n  c: {name: d}\\n'
    """
    node = read_yaml(Path("layer"), text)
    if node is None:
        return text + layer_text(sections)
    present = {key.value: value for key, value in node.value}
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    added: dict[int, str] = {}
    new: dict[str, Any] = {}
    for name in ORDER:
        entries = sections.get(name)
        value = present.get(name, present.get("predicates") if name == "properties" else None)
        if not entries:
            continue
        if value is None:
            new[name] = entries
        elif isinstance(value, MappingNode) and isinstance(entries, Mapping):
            known = {key.value for key, _ in value.value}
            missing = {key: entry for key, entry in entries.items() if key not in known}
            indent = value.start_mark.column if not value.flow_style else 2
            if missing and not value.flow_style:
                added[_last_line(value)] = _block(missing, indent)
        elif isinstance(value, SequenceNode) and not value.flow_style and isinstance(entries, list):
            known = {each.value for each in value.value}
            missing_rules = [rule for rule in entries if rule not in known]
            if missing_rules:
                added[_last_line(value)] = _block(missing_rules, value.start_mark.column)
    for line in sorted(added, reverse=True):
        lines.insert(line, added[line])
    return "".join(lines) + layer_text(new)


def _last_line(node: MappingNode | SequenceNode) -> int:
    """The line after the last one of a block."""
    last = node.value[-1]
    end = last[1] if isinstance(last, tuple) else last
    while isinstance(end, MappingNode | SequenceNode) and not end.flow_style and end.value:
        inner = end.value[-1]
        end = inner[1] if isinstance(inner, tuple) else inner
    line = end.end_mark.line
    # a block scalar ends at the start of the next line
    return int(line if end.end_mark.column == 0 else line + 1)


def _block(entries: Any, indent: int) -> str:
    if isinstance(entries, list):
        return "".join(f"{' ' * indent}- {_flow(entry)}\n" for entry in entries)
    return "".join(f"{' ' * indent}{_flow(key)}: {_flow(value)}\n" for key, value in entries.items())


def _flow(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=100_000, allow_unicode=True, sort_keys=False)
    return " ".join(text.removesuffix("\n...\n").split("\n")).strip()


def suggest_annotations(schema: Schema) -> str:
    """A template in YAML: every class and predicate with its properties, all commented out."""
    lines = ["# Take away the '#' of what you want to change; see docs for the keys.", "classes:"]
    for shown in schema.classes:
        lines += [f"  # {_yaml(shown.iri)}:", f"  #   name: {_yaml(shown.label)}"]
        lines += [f"  #   comment: {_yaml(shown.comment)}", "  #   hidden: false"]
    lines.append("properties:")
    for predicate in schema.predicates:
        lines += [f"  # {_yaml(predicate.iri)}:", f"  #   name: {_yaml(predicate.label)}"]
        lines += [
            f"  #   comment: {_yaml(predicate.comment)}",
            f"  #   unit: {_yaml(predicate.unit)}",
            "  #   hidden: false",
        ]
    return "\n".join(lines) + "\n"


def _yaml(text: str) -> str:
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


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
