"""The layer that completes a schema from texts: Proposals -> a LayerFile that names classes and properties, and whose
rules have the statements of the texts."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ingestion.export import is_plain_iri, ntriples_literal
from ingestion.layer.drafting.layer_text import layer_text
from ingestion.layer.format.read_layer import read_layer
from ingestion.layer.stored import LayerFile
from ingestion.vocabulary import LABEL, TYPE
from nacre.extraction.resolve import MIN_STATEMENT_CONFIDENCE
from nacre.language.sanitize import strip_control_characters
from nacre.language.tokens import name_tokens
from nacre.records.extracted import EXTRACTED_NAMESPACE, ExtractedTriple, Proposal
from nacre.records.schema import Schema
from nacre.stores.sqlite.triples import StatedTriples

COMPLETION = "completion.yaml"
# characters of all statements; a layer file has at most 1 MB
MAX_STATEMENTS = 900_000
# statements of a rule: four tokens each, and a query has at most 600 (given)
MAX_RULE = 120
_HEAD = "# Stated by the texts of the graph: nacre complete --apply. To undo: nacre complete --remove\n"


class Statement(NamedTuple):
    """A triple of the layer; subject and predicate are IRIs, the value is written as in SPARQL."""

    subject: str
    predicate: str
    value: str


@dataclass(frozen=True)
class CompletionLayer:
    """The file, how many statements it has, and how many it can't have: about blank nodes, or too many for a file."""

    file: LayerFile
    statements: int
    left_out: int


def completion_layer(found: Sequence[Proposal], schema: Schema, stated: StatedTriples) -> CompletionLayer:
    """Write the proposals as a layer. `stated` are the triples of the graph: a property with one value keeps its own.

    Raises IngestionError for proposals that no layer can have.
    """
    every = dict.fromkeys(each for proposal in found for each in _statements(proposal, schema, stated))
    kept, size = [], 0
    for each in every:
        if is_plain_iri(each.subject) and (each.value.startswith('"') or is_plain_iri(each.value[1:-1])):
            size += len(each.subject) + len(each.value)
            kept += [each] if size <= MAX_STATEMENTS else []
    text = _HEAD + layer_text({**_names(found), "rules": list(_rules(kept))})
    read_layer(Path(COMPLETION), text)
    return CompletionLayer(LayerFile(COMPLETION, text), len(kept), len(every) - len(kept))


def _names(found: Sequence[Proposal]) -> Mapping[str, Mapping[str, Any]]:
    """What the new classes and properties are called."""
    classes = {_iri("class:", each.label): {"name": each.label} for each in found if each.kind == "class"}
    others: dict[str, list[str]] = defaultdict(list)
    labels: dict[str, str] = {}
    for each in found:
        if each.kind == "attribute" and not each.key:
            name = labels.setdefault(_iri("", each.label), each.label)
            others[name] += [relation for relation in each.relations if relation != name]
    properties = {
        iri: {"name": name} | ({"also": list(dict.fromkeys(others[name]))} if others[name] else {})
        for iri, name in labels.items()
    }
    return {"classes": classes, "properties": properties}


def _statements(proposal: Proposal, schema: Schema, stated: StatedTriples) -> Iterator[Statement]:
    """The statements of a proposal that are sure enough, with the names of things that the graph lacks."""
    for each in proposal.instances:
        if each.confidence < MIN_STATEMENT_CONFIDENCE:
            continue
        subject = each.subject_key or _iri("thing:", each.subject)
        predicate = TYPE if proposal.kind == "class" else proposal.key or _iri("", proposal.label)
        if proposal.key and not _may_have(subject, each, proposal.key, schema, stated):
            continue
        if not each.subject_key:
            yield Statement(subject, LABEL, _literal(each.subject))
        value = f"<{each.object_key}>" if each.object_key else _literal(each.object)
        yield Statement(subject, predicate, f"<{_iri('class:', proposal.label)}>" if predicate == TYPE else value)


def _may_have(subject: str, each: ExtractedTriple, key: str, schema: Schema, stated: StatedTriples) -> bool:
    """Whether a property of the graph allows the value, and does not have its only one."""
    predicate = schema.predicate_of.get(key)
    if predicate is None or not (predicate.has_links if each.object_key else predicate.has_literals):
        return False
    return not (predicate.functional and stated.with_subject(subject, key))


def _rules(statements: Sequence[Statement]) -> Iterator[str]:
    by_predicate: dict[str, list[Statement]] = defaultdict(list)
    for each in statements:
        by_predicate[each.predicate].append(each)
    for predicate, own in by_predicate.items():
        for start in range(0, len(own), MAX_RULE):
            rows = " ".join(f"(<{each.subject}> {each.value})" for each in own[start : start + MAX_RULE])
            yield f"CONSTRUCT {{ ?this <{predicate}> ?value }} WHERE {{ VALUES (?this ?value) {{ {rows} }} }}"


def _iri(kind: str, name: str) -> str:
    return f"{EXTRACTED_NAMESPACE}{kind}{'_'.join(name_tokens(name))}"


def _literal(text: str) -> str:
    return ntriples_literal(strip_control_characters(text), "", "")
