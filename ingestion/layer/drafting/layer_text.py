"""Entries of a layer as YAML: sections -> text; new ones are added to a file and what stands there stays."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, SequenceNode

from ingestion.layer.format.yaml_nodes import read_yaml

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
