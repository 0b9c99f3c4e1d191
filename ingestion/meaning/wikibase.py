"""Wikibase: labels of properties from their items, values of statements, and instances of classes."""

from collections import defaultdict

from ingestion.meaning.closure import MAX_NEAREST, transitive_closure
from ingestion.meaning.draft import Draft
from ingestion.vocabulary import ALTERNATIVE, COMMENT, LABEL

WIKIBASE = "http://wikiba.se/ontology#"
DIRECT, CLAIM, VALUE, QUALIFIER = (
    WIKIBASE + name for name in ("directClaim", "claim", "statementProperty", "qualifier")
)
REASON = "describes a property"
# each kind is a view; only the largest classes get one, others are queried by their links
MAX_WIKIBASE_KINDS = 300
_KIND, _ABOVE = "instance of", "subclass of"
_DESCRIPTIONS = ("http://schema.org/description", COMMENT)


def read_wikibase(draft: Draft) -> None:
    """Predicates get the labels of the items that describe them; items get the values of their statements, and belong
    to their classes and all classes above."""
    if not draft.has_any(DIRECT, CLAIM):
        return
    predicates = {iri: dict(draft.pairs(iri)) for iri in (DIRECT, CLAIM, VALUE, QUALIFIER)}
    labels = {
        item: draft.text(label)
        for item, label in sorted(draft.pairs(LABEL), reverse=True)
        if _is_readable(draft, label)
    }
    _label_predicates(draft, predicates)
    for item, statement in predicates[CLAIM].items():
        value = predicates[VALUE].get(item)
        if value is not None:
            _add_statement_values(draft, statement, value, predicates[DIRECT].get(item))
    called = {labels[item]: predicate for item, predicate in predicates[DIRECT].items() if item in labels}
    if _KIND in called:
        _add_memberships(draft, draft.text(called[_KIND]), draft.text(called[_ABOVE]) if _ABOVE in called else "")
    for item in {item for each in predicates.values() for item in each}:
        draft.hide(draft.rows_of(item), REASON)


def _is_readable(draft: Draft, label: int) -> bool:
    return draft.sort(label)[2] in ("", "en")


def _label_predicates(draft: Draft, predicates: dict[str, dict[int, int]]) -> None:
    """Label predicates by their items; the label of the link to a statement differs from that of its value."""
    for name in (LABEL, ALTERNATIVE, *_DESCRIPTIONS):
        for item, text in draft.pairs(name):
            for iri, of_items in predicates.items():
                if item not in of_items:
                    continue
                said = text
                if iri == CLAIM:
                    _, datatype, language = draft.sort(text)
                    said = draft.literal(f"{draft.text(text)} statement", datatype, language)
                draft.add(of_items[item], COMMENT if name in _DESCRIPTIONS else name, said)


def _add_statement_values(draft: Draft, claim: int, value: int, direct: int | None) -> None:
    """Add the values of statements to items without a direct value."""
    owners = {statement: owner for owner, statement in draft.pairs(draft.text(claim))}
    known = {owner for owner, _ in draft.pairs(draft.text(direct))} if direct is not None else set()
    shown = draft.text(value if direct is None else direct)
    for statement, target in draft.pairs(draft.text(value)):
        owner = owners.get(statement)
        if owner is not None and owner not in known:
            draft.add(owner, shown, target)


def _add_memberships(draft: Draft, kind: str, above: str) -> None:
    direct: dict[int, set[int]] = defaultdict(set)
    for narrow, broad in draft.pairs(above) if above else ():
        direct[narrow].add(broad)
    higher, complete = transitive_closure(direct)
    if not complete:
        draft.limits.append(f"read wikibase: only the {MAX_NEAREST} nearest classes above each one")
    members: dict[int, set[int]] = defaultdict(set)
    for item, of_class in draft.pairs(kind):
        for each in (of_class, *higher.get(of_class, ())):
            if draft.sort(each)[0] == "iri":
                members[each].add(item)
    for each in sorted(members, key=lambda k: (-len(members[k]), draft.text(k)))[:MAX_WIKIBASE_KINDS]:
        draft.add_kinds((item, each) for item in members[each])
