"""Check a drafted layer entry by entry: text + Facts -> the entries that hold, and those that fail with the reason."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ingestion.layer.check import check_layers
from ingestion.layer.drafting.layer_text import ORDER, layer_text
from ingestion.layer.format.read_layer import read_layer
from ingestion.layer.format.yaml_nodes import read_yaml
from ingestion.layer.stored import LayerFile, LayerFiles
from ingestion.read.capsules import Facts
from nacre.errors import IngestionError

NAME = "draft"
SECTIONS = tuple(section for section in ORDER if section != "prefixes")


@dataclass(frozen=True)
class FailedEntry:
    """An entry that was left out: its section, its key, its text and the reason."""

    section: str
    key: str
    value: Any
    reason: str

    @property
    def text(self) -> str:
        """The entry as YAML on one line."""
        if not self.section:
            return str(self.value)
        one = [self.value] if self.section == "rules" else {self.key: self.value}
        return " ".join(layer_text({self.section: one}).split())


@dataclass
class CheckedDraft:
    """Sections with the entries that hold, and the entries that fail."""

    sections: dict[str, Any] = field(default_factory=dict)
    failed: list[FailedEntry] = field(default_factory=list)

    @property
    def count(self) -> int:
        """The number of entries that hold."""
        return sum(len(entries) for name, entries in self.sections.items() if name != "prefixes")


def check_draft(text: str, prefixes: Mapping[str, str], facts: Facts, earlier: Mapping[str, Any]) -> CheckedDraft:
    """Read each entry on its own, then apply all that can be read after those of `earlier` drafts.

    An entry that gives nothing, or fails, is left out. Raises IngestionError if the text is no YAML mapping.
    """
    read_yaml(Path(NAME), text)
    data = yaml.safe_load(text) or {}
    own = {str(key): str(value) for key, value in (data.get("prefixes") or {}).items()}
    every = {**prefixes, **own}
    checked = CheckedDraft({"prefixes": every})
    for section, key, value in _entries(data):
        problem = _problem(section, key, value, every)
        if problem:
            checked.failed.append(FailedEntry(section, key, value, problem))
        else:
            _put(checked.sections, section, key, value)
    written = layer_text(_merged(earlier, checked.sections))
    report = check_layers(facts, LayerFiles((LayerFile(NAME, written),)))
    failing = {each.place.line: "it gives nothing in this graph" for each in report.entries if each.count == 0}
    failing |= {problem.place.line: problem.text for problem in report.problems if problem.keeps_from_use}
    here = {(section, key): value for section, key, value in _entries(checked.sections)}
    for line, place in sorted(_entry_lines(written).items()):
        if line in failing and place in here:
            checked.failed.append(FailedEntry(*place, here[place], failing[line]))
            _remove(checked.sections, *place)
    return checked


def merge_sections(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of both; those of `one` win."""
    return _merged(other, one)


def _entries(data: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for section in SECTIONS:
        entries = data.get(section) or {}
        if isinstance(entries, list):
            yield from ((section, str(rule), rule) for rule in list(entries))
        elif isinstance(entries, Mapping):
            yield from ((section, str(key), value) for key, value in list(entries.items()))


def _problem(section: str, key: str, value: Any, prefixes: Mapping[str, str]) -> str:
    """Why an entry can't be read; "" if it can."""
    one: Any = [value] if section == "rules" else {key: value}
    try:
        read_layer(Path(NAME), layer_text({"prefixes": prefixes, section: one}))
    except IngestionError as error:
        return str(error).partition(": ")[2]
    return ""


def _put(sections: dict[str, Any], section: str, key: str, value: Any) -> None:
    if section == "rules":
        sections.setdefault(section, []).append(value)
    else:
        sections.setdefault(section, {})[key] = value


def _remove(sections: dict[str, Any], section: str, key: str) -> None:
    if section == "rules":
        sections[section] = [rule for rule in sections[section] if str(rule) != key]
    else:
        sections[section].pop(key, None)


def _merged(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for section in ORDER:
        before, after = earlier.get(section), later.get(section)
        if section == "rules":
            merged[section] = list(dict.fromkeys([*(before or []), *(after or [])]))
        else:
            merged[section] = {**(before or {}), **(after or {})}
    return {section: entries for section, entries in merged.items() if entries}


def _entry_lines(text: str) -> dict[int, tuple[str, str]]:
    """The section and key of each entry by its line, in a text that `layer_text` wrote."""
    node = read_yaml(Path(NAME), text)
    found = {}
    for name, value in node.value if node is not None else ():
        for each in value.value:
            item = each[0] if isinstance(each, tuple) else each
            found[int(item.start_mark.line) + 1] = (str(name.value), str(item.value))
    return found
