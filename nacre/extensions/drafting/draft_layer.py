"""Draft a layer with a model: Facts + drafter -> entries, in a few calls within a budget of tokens.

Each call shows some classes as text, with shapes, samples and one example. What the model writes is checked against
the graph entry by entry; what fails goes back once with the reason, and what fails again is left out and listed. New
entries are added to a file; what stands there stays.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field
from yaml.nodes import MappingNode, SequenceNode

from agents.model_calls import CHARACTERS_PER_TOKEN, Limits, prompt, structured_reply
from agents.turn_view import NO_USAGE, Result, Usage
from ingestion.induce.names import namespace_word
from ingestion.layer.apply import ORDER, Sections, apply_layers, check_layers, format_entries, layer_text
from ingestion.layer.entries import ClassEntry, PropertyEntry
from ingestion.layer.layer_file import LayerFile, LayerFiles, known_prefixes, read_layer, read_yaml
from ingestion.read.facts import Facts, unique_counts
from ingestion.vocabulary import (
    COMMENT_PREDICATES,
    EMPTY_TYPES,
    LABEL,
    SCHEMA_PREDICATES,
    SCHEMA_TYPES,
    TYPE,
    local_name,
    name_rank,
)
from nacre.errors import IngestionError

# tokens that one call reads of a graph: the drafts of ten graphs took 5,000 to 25,000 (measured)
CALL_TOKENS = 20_000

MAX_CALLS = 4

# characters of what packs give already (given)
MAX_GIVEN = 8000

# characters of a draft: one of sixty entries has 14,000 (measured)
MAX_DRAFT = 60_000


class DraftedLayer(BaseModel):
    """The layer as YAML."""

    layer: str = Field(max_length=MAX_DRAFT)


@dataclass(frozen=True)
class LayerDrafter:
    """Drafts and repairs with one model. Both raise ModelFailed."""

    model: BaseChatModel
    limits: Limits

    async def draft(self, graph: str, prefixes: str, present: str, questions: Sequence[str]) -> Result[str]:
        """The layer for some classes of a graph; `present` is what is drafted already."""
        asked = "\n".join(f"- {question}" for question in questions)
        turn = prompt("layer_drafter_turn", graph=graph, prefixes=prefixes, present=present or "(nothing)", asked=asked)
        return await self._reply(turn)

    async def repair(self, graph: str, prefixes: str, failed: Sequence[tuple[str, str]]) -> Result[str]:
        """Corrected entries for those that failed: (entry, reason)."""
        entries = "\n".join(f"- {entry}\n  reason: {reason}" for entry, reason in failed)
        return await self._reply(prompt("layer_repair_turn", graph=graph, prefixes=prefixes, failed=entries))

    async def _reply(self, turn: str) -> Result[str]:
        messages = [SystemMessage(prompt("layer_drafter")), HumanMessage(turn)]
        # a failed entry is repaired by a call of its own
        limits = replace(self.limits, retries=1)
        reply, usage = await structured_reply(self.model, messages, DraftedLayer, limits=limits)
        return Result(reply.layer, "model", usage)


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
class LayerDraft:
    """The entries so far, those that were left out, and what the calls took."""

    sections: dict[str, Any] = field(default_factory=dict)
    failed: list[FailedEntry] = field(default_factory=list)
    usage: Usage = NO_USAGE

    def has(self, entry: FailedEntry) -> bool:
        """Whether an entry with this key was repaired."""
        return entry.section != "rules" and entry.key in self.sections.get(entry.section, {})


OnDraft = Callable[[LayerDraft, str], None]


@dataclass(frozen=True)
class GraphText:
    """The prefixes of a graph, and a text for each class, the largest first."""

    prefixes: Mapping[str, str]
    classes: tuple[str, ...]


def plan_calls(text: GraphText, tokens: int) -> tuple[list[str], int]:
    """The descriptions that the calls show, within a budget of tokens; and how many classes are left out."""
    size = min(tokens, CALL_TOKENS) * CHARACTERS_PER_TOKEN
    calls: list[list[str]] = [[]]
    left = tokens * CHARACTERS_PER_TOKEN
    shown = 0
    for each in text.classes:
        part = each[:size]
        if len(part) > left or (len(calls) == MAX_CALLS and sum(map(len, calls[-1])) + len(part) > size):
            break
        if calls[-1] and sum(map(len, calls[-1])) + len(part) > size:
            calls.append([])
        calls[-1].append(part)
        left -= len(part)
        shown += 1
    return ["\n\n".join(call) for call in calls if call], len(text.classes) - shown


async def draft_layer(
    facts: Facts, text: GraphText, drafter: LayerDrafter, *, tokens: int, questions: Sequence[str], on_draft: OnDraft
) -> LayerDraft:
    """Draft, check and repair; `text` describes the facts, `on_draft` is called with what is there after each call.
    Raises ModelFailed."""
    calls, _ = plan_calls(text, tokens)
    given = _given_by_packs(facts)
    draft = LayerDraft()
    for number, shown in enumerate(calls, 1):
        present = "\n".join(filter(None, (given, layer_text(draft.sections))))
        reply = await drafter.draft(shown, _prefix_lines(text.prefixes), present, questions)
        draft.usage += reply.usage
        checked = _checked(reply.value, text.prefixes, facts, draft)
        on_draft(draft, f"call {number} of {len(calls)}: {checked.count} entries, {len(checked.failed)} to repair")
        failed = checked.failed
        if failed:
            again = await drafter.repair(shown, _prefix_lines(text.prefixes), [(f.text, f.reason) for f in failed])
            draft.usage += again.usage
            repaired = _checked(again.value, text.prefixes, facts, draft)
            again_failed = {(f.section, f.key) for f in repaired.failed}
            draft.failed += repaired.failed
            draft.failed += [f for f in failed if not draft.has(f) and (f.section, f.key) not in again_failed]
            on_draft(draft, f"repair of call {number}: {repaired.count} entries, {len(repaired.failed)} left out")
    return draft


@dataclass
class CheckedDraft:
    """Sections with the entries that hold, and the entries that fail."""

    sections: dict[str, Any] = field(default_factory=dict)
    failed: list[FailedEntry] = field(default_factory=list)

    @property
    def count(self) -> int:
        """The number of entries that hold."""
        return sum(len(entries) for name, entries in self.sections.items() if name != "prefixes")


def _checked(text: str, prefixes: Mapping[str, str], facts: Facts, draft: LayerDraft) -> CheckedDraft:
    """Check a reply and add its entries to the draft. A reply that is no YAML is one failed entry."""
    try:
        checked = check_draft(text, prefixes, facts, draft.sections)
    except IngestionError as error:
        return CheckedDraft({}, [FailedEntry("", "", text, str(error))])
    # the entries of earlier calls win
    draft.sections = _merged(checked.sections, draft.sections)
    return checked


def _given_by_packs(facts: Facts) -> str:
    """What packs say of the graph already, a line for each entry that has an effect."""
    applied = apply_layers(facts, ())
    lines = []
    for index, entry in enumerate(applied.layer.entries):
        if not isinstance(entry, ClassEntry | PropertyEntry) or applied.counts.get(index) == 0 or entry.hidden:
            continue
        of = f" of {', '.join(map(local_name, entry.of))}" if isinstance(entry, PropertyEntry) and entry.of else ""
        words = f" ({', '.join(entry.also)})" if entry.also else ""
        lines.append(f"{entry.name or local_name(entry.iri)}{of}{words}")
    return "\n".join(("# from packs of vocabularies:", *lines))[:MAX_GIVEN] if lines else ""


def _prefix_lines(prefixes: Mapping[str, str]) -> str:
    return "\n".join(f"{prefix}: {iri}" for prefix, iri in sorted(prefixes.items()))


SAMPLES, SAMPLE_LENGTH = 3, 60

# of one example: depth, lines, lines of one node
MAX_DEPTH, MAX_LINES, MAX_CHILDREN = 4, 30, 14

# members of a class that are examined
MAX_MEMBERS = 2000

MAX_COMMENT = 160


def describe_graph(facts: Facts) -> GraphText:
    """The classes of the data with their properties."""
    description = _Description(facts)
    return GraphText(description.prefixes, tuple(description.class_texts()))


class _Description:
    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._type = next((n for n in facts.predicates if facts.texts[n] == TYPE), -1)
        self._spaces = {iri: prefix for prefix, iri in known_prefixes().items()}
        self.prefixes: dict[str, str] = {}
        self._comments = {n for n in facts.predicates if facts.texts[n] in COMMENT_PREDICATES}
        self._named = {n for n in facts.predicates if name_rank(facts.texts[n]) is not None}

    def class_texts(self) -> Iterator[str]:
        facts = self._facts
        typed = np.flatnonzero(facts.predicate == self._type)
        classes, counts = unique_counts(facts.object[typed])
        order = sorted(
            zip(classes.tolist(), counts.tolist(), strict=True),
            key=lambda c: (facts.texts[c[0]] in EMPTY_TYPES, -c[1], facts.texts[c[0]]),
        )
        for number, count in order:
            if facts.texts[number] in SCHEMA_TYPES or facts.is_literal[number]:
                continue
            members = facts.subject[typed[facts.object[typed] == number]]
            yield "\n".join(self._class(number, count, members[:MAX_MEMBERS].tolist()))

    def _class(self, number: int, count: int, members: list[int]) -> Iterator[str]:
        about = self._about(number)
        yield f"CLASS {self._curie(self._facts.texts[number])} ({count} things){about}"
        subjects: Counter[int] = Counter()
        samples: dict[int, list[int]] = defaultdict(list)
        for member in members:
            seen = set()
            for row in self._rows(member):
                predicate, value = int(self._facts.predicate[row]), int(self._facts.object[row])
                if predicate == self._type:
                    continue
                seen.add(predicate)
                if len(samples[predicate]) < SAMPLES and value not in samples[predicate]:
                    samples[predicate].append(value)
            subjects.update(seen)
        for predicate, have in subjects.most_common():
            iri = self._facts.texts[predicate]
            if iri in SCHEMA_PREDICATES:
                continue
            values = " | ".join(self._value(value) for value in samples[predicate])
            share = "" if have == len(members) else f" {100 * have // len(members)} %"
            yield f"  {self._curie(iri)}{share}{self._about(predicate)}: {values}"
        example = max(members[:50], key=lambda m: len(self._rows(m)), default=None)
        if example is not None and any(self._is_node(v) for each in samples.values() for v in each):
            yield "  example:"
            lines = list(self._tree(example, 2, {example}))
            yield from lines[:MAX_LINES]

    def _tree(self, subject: int, depth: int, above: set[int]) -> Iterator[str]:
        facts = self._facts
        for row in list(self._rows(subject))[:MAX_CHILDREN]:
            predicate, value = int(facts.predicate[row]), int(facts.object[row])
            shown = "a" if predicate == self._type else self._curie(facts.texts[predicate])
            yield f"{'  ' * depth}{shown} {self._value(value)}"
            if self._is_node(value) and value not in above and depth < 2 + MAX_DEPTH:
                yield from self._tree(value, depth + 1, above | {value})

    def _is_node(self, number: int) -> bool:
        """Whether a value is described by triples of its own."""
        return not self._facts.is_literal[number] and len(self._rows(number)) > 0

    def _value(self, number: int) -> str:
        facts = self._facts
        kind, datatype, language = facts.sorts[int(facts.sort_of[number])]
        text = " ".join(facts.texts[number].split())
        if kind == "literal":
            tail = f"@{language}" if language else f" ({local_name(datatype)})" if datatype else ""
            short = text if len(text) <= SAMPLE_LENGTH else text[: SAMPLE_LENGTH - 3] + "..."
            return f'"{short}"{tail}'
        name = next(
            (facts.texts[int(facts.object[r])] for r in self._rows(number) if int(facts.predicate[r]) in self._named),
            "",
        )
        types = [
            self._facts.texts[int(facts.object[r])] for r in self._rows(number) if facts.predicate[r] == self._type
        ]
        types = [self._curie(iri) for iri in sorted(types, key=lambda iri: iri in EMPTY_TYPES)]
        shown = "[]" if kind == "blank" else self._curie(text)
        return f"{shown}{f' a {types[0]}' if types else ''}{f' {name[:SAMPLE_LENGTH]!r}' if name else ''}"

    def _about(self, number: int) -> str:
        """Label and comment of a class or property."""
        facts = self._facts
        labels = [
            facts.texts[int(facts.object[r])]
            for r in self._rows(number)
            if facts.texts[int(facts.predicate[r])] == LABEL
        ]
        comments = [
            facts.texts[int(facts.object[r])] for r in self._rows(number) if int(facts.predicate[r]) in self._comments
        ]
        shown = "; ".join(" ".join(text.split())[:MAX_COMMENT] for text in (*labels[:1], *comments[:1]))
        return f" ({shown})" if shown else ""

    def _rows(self, subject: int) -> range:
        low, high = self._facts.subject.searchsorted(np.array((subject, subject + 1), dtype=np.int32)).tolist()
        return range(low, high)

    def _curie(self, iri: str) -> str:
        cut = max(iri.rfind("#"), iri.rfind("/"), iri.rfind(":")) + 1
        space, local = iri[:cut], iri[cut:]
        if not local or not all(c.isalnum() or c in "_-." for c in local):
            return f"<{iri}>"
        if space not in self._spaces:
            base = word = namespace_word(iri) or "ns"
            number = 1
            while word in self._spaces.values():
                number += 1
                word = f"{base}{number}"
            self._spaces[space] = word
        self.prefixes[self._spaces[space]] = space
        return f"{self._spaces[space]}:{local}"


NAME = "draft"

SECTIONS = tuple(section for section in ORDER if section != "prefixes")


def check_draft(text: str, prefixes: Mapping[str, str], facts: Facts, earlier: Mapping[str, Any]) -> CheckedDraft:
    """Read each entry on its own, then apply all that can be read after those of `earlier` drafts. An entry that gives
    nothing, or fails, is left out. Raises IngestionError if the text is no YAML mapping."""
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
                added[_last_line(value)] = format_entries(missing, indent)
        elif isinstance(value, SequenceNode) and not value.flow_style and isinstance(entries, list):
            known = {each.value for each in value.value}
            missing_rules = [rule for rule in entries if rule not in known]
            if missing_rules:
                added[_last_line(value)] = format_entries(missing_rules, value.start_mark.column)
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
