"""Wikibase: properties that items describe, values in statements with qualifiers, and instances of classes."""

from collections import defaultdict

from ingestion.meaning.draft import Draft
from ingestion.meaning.skos import transitive_closure
from ingestion.vocabulary import ALTERNATIVE, COMMENT, LABEL

WIKIBASE = "http://wikiba.se/ontology#"
DIRECT, CLAIM, VALUE, QUALIFIER = (
    WIKIBASE + name for name in ("directClaim", "claim", "statementProperty", "qualifier")
)
REASON = "describes a property"
# a kind is a view with a name of its own; beyond these, the largest, classes are asked for by their links
MAX_WIKIBASE_KINDS = 300
_KIND, _ABOVE = "instance of", "subclass of"
_DESCRIPTIONS = ("http://schema.org/description", COMMENT)


def read_wikibase(draft: Draft) -> None:
    """A predicate is called as the item that describes it; an item has the values of its statements, and is of its
    classes and of all above them."""
    if not draft.uses(DIRECT, CLAIM):
        return
    predicates = {iri: dict(draft.pairs(iri)) for iri in (DIRECT, CLAIM, VALUE, QUALIFIER)}
    labels = {
        item: draft.text(label) for item, label in sorted(draft.pairs(LABEL), reverse=True) if _read(draft, label)
    }
    _call(draft, predicates)
    for item, statement in predicates[CLAIM].items():
        value = predicates[VALUE].get(item)
        if value is not None:
            _claims(draft, statement, value, predicates[DIRECT].get(item))
    called = {labels[item]: predicate for item, predicate in predicates[DIRECT].items() if item in labels}
    if _KIND in called:
        _kinds(draft, draft.text(called[_KIND]), draft.text(called[_ABOVE]) if _ABOVE in called else "")
    for item in {item for each in predicates.values() for item in each}:
        draft.hide(draft.of(item), REASON)


def _read(draft: Draft, label: int) -> bool:
    return draft.sort(label)[2] in ("", "en")


def _call(draft: Draft, predicates: dict[str, dict[int, int]]) -> None:
    """Give the predicates the names and descriptions of their items; the link to a statement is told from its value."""
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


def _claims(draft: Draft, claim: int, value: int, direct: int | None) -> None:
    """The values of statements, of those that they are about, where these have no direct one."""
    owners = {statement: owner for owner, statement in draft.pairs(draft.text(claim))}
    known = {owner for owner, _ in draft.pairs(draft.text(direct))} if direct is not None else set()
    shown = draft.text(value if direct is None else direct)
    for statement, target in draft.pairs(draft.text(value)):
        owner = owners.get(statement)
        if owner is not None and owner not in known:
            draft.add(owner, shown, target)


def _kinds(draft: Draft, kind: str, above: str) -> None:
    direct: dict[int, set[int]] = defaultdict(set)
    for narrow, broad in draft.pairs(above) if above else ():
        direct[narrow].add(broad)
    higher = transitive_closure(direct)
    members: dict[int, set[int]] = defaultdict(set)
    for item, of_class in draft.pairs(kind):
        for each in (of_class, *higher.get(of_class, ())):
            if draft.sort(each)[0] == "iri":
                members[each].add(item)
    for each in sorted(members, key=lambda k: (-len(members[k]), draft.text(k)))[:MAX_WIKIBASE_KINDS]:
        draft.kinds |= {(item, each) for item in members[each]}
