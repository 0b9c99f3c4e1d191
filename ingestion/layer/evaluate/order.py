"""The order in which a layer derives: entries -> their indexes, each after those that give what it reads."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from ingestion.layer.entries import LAYER_NAMESPACE, ClassEntry, Entry, PropertyEntry, RuleEntry, ThingEntry
from ingestion.layer.format.expressions import iris_of
from ingestion.vocabulary import LAYER_NAME


def derivation_order(entries: Sequence[Entry]) -> list[int]:
    """The order of the file, but an entry that gives what another one reads comes before it. A rule does not wait
    for later rules."""
    givers: dict[str, list[int]] = defaultdict(list)
    for index, entry in enumerate(entries):
        for iri in given_iris(entry):
            givers[iri].append(index)
    rules = [index for index, entry in enumerate(entries) if isinstance(entry, RuleEntry)]
    before = {rule: earlier for earlier, rule in pairwise(rules)}
    order: dict[int, None] = {}
    for index in range(len(entries)):
        _visit(index, entries, givers, before, order)
    return list(order)


def is_deriving(entry: Entry) -> bool:
    """Whether an entry gives triples, and not only names."""
    if isinstance(entry, ClassEntry):
        return entry.is_derived
    return not isinstance(entry, PropertyEntry) or entry.is_derived or bool(entry.kind)


def query_text(entry: Entry) -> str:
    """The SPARQL that an entry runs; "" for none."""
    if isinstance(entry, RuleEntry):
        return entry.text
    return entry.where if isinstance(entry, ClassEntry | PropertyEntry) else ""


def query_body(entry: Entry) -> str:
    """The group pattern of an entry, without braces; "" for none."""
    if isinstance(entry, RuleEntry):
        _, body = _rule_parts(entry)
        return body[body.find("{") + 1 : body.rfind("}")]
    return query_text(entry)


def _visit(
    start: int,
    entries: Sequence[Entry],
    givers: Mapping[str, Sequence[int]],
    before: Mapping[int, int],
    order: dict[int, None],
) -> None:
    """Add an entry after those it needs. Entries that need one another stay in the order of the file."""
    open_entries, waiting = {start}, [(start, False)]
    while waiting:
        index, is_ready = waiting.pop()
        if index in order:
            continue
        if is_ready:
            order[index] = None
            continue
        open_entries.add(index)
        waiting.append((index, True))
        needed = {giver for iri in _read(entries[index]) for giver in givers.get(iri, ())}
        if isinstance(entries[index], RuleEntry):
            needed = {each for each in needed if each < index or not isinstance(entries[each], RuleEntry)}
            needed |= {before[index]} if index in before else set()
        waiting += [(each, False) for each in sorted(needed - open_entries - order.keys(), reverse=True)]


def given_iris(entry: Entry) -> Collection[str]:
    """The IRIs of what an entry derives; of a rule only those in the namespace of layers."""
    if isinstance(entry, ThingEntry):
        return (LAYER_NAME,)
    if isinstance(entry, PropertyEntry):
        return (*((entry.iri,) if entry.is_derived else ()), *((LAYER_NAME,) if entry.kind else ()))
    if isinstance(entry, ClassEntry):
        return (entry.iri,) if entry.is_derived else ()
    if isinstance(entry, RuleEntry):
        return {iri for iri in template_iris(entry) if iri.startswith(LAYER_NAMESPACE)}
    return ()


def template_iris(rule: RuleEntry) -> Collection[str]:
    """The IRIs in the triples that a rule derives."""
    template, _ = _rule_parts(rule)
    return iris_of(template)


def _read(entry: Entry) -> Collection[str]:
    """The IRIs that an entry reads."""
    if isinstance(entry, PropertyEntry):
        return {*iris_of(entry.path or entry.where), *entry.of}
    if isinstance(entry, ClassEntry):
        return iris_of(entry.where)
    return iris_of(_rule_parts(entry)[1]) if isinstance(entry, RuleEntry) else ()


def _rule_parts(rule: RuleEntry) -> tuple[str, str]:
    """The text up to the end of the template, and the rest."""
    end = rule.text.find("}") + 1
    return rule.text[:end], rule.text[end:]
