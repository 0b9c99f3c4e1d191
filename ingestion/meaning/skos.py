"""SKOS: schemes, collections and concepts with narrower concepts are classes, the concepts below are members."""

from collections import defaultdict

from ingestion.meaning.closure import MAX_NEAREST, Ancestors, transitive_closure
from ingestion.meaning.draft import Draft
from ingestion.vocabulary import PREFERRED, SKOS, TYPE, language_rank
from nacre.language.forms.nouns import is_plural

BROADER = tuple(SKOS + name for name in ("broader", "broaderGeneric", "broaderPartitive", "broaderInstantive"))
NARROWER = tuple(SKOS + name for name in ("narrower", "narrowerGeneric", "narrowerPartitive", "narrowerInstantive"))
CONCEPT = SKOS + "Concept"
MEMBER = SKOS + "member"
# each kind is a view; only the largest get one, other concepts are queried by their links
MAX_KINDS = 300
# each of several schemes is a table
MAX_KIND_TABLES = 20


def read_skos(draft: Draft) -> None:
    """A concept is a member of all concepts above it, and of its schemes and collections.

    If the leaf concepts have singular names, a concept with a plural name ("brass instruments") only groups others: it
    is a class, and no member of the classes above it.
    """
    if not draft.has_any(*BROADER, *NARROWER, MEMBER, SKOS + "inScheme", SKOS + "topConceptOf", SKOS + "hasTopConcept"):
        return
    direct: dict[int, set[int]] = defaultdict(set)
    for narrow, broad in (pair for iri in BROADER for pair in draft.pairs(iri)):
        direct[narrow].add(broad)
    for broad, narrow in (pair for iri in NARROWER for pair in draft.pairs(iri)):
        direct[narrow].add(broad)
    concepts = {*direct, *(b for above in direct.values() for b in above), *draft.instances_of(CONCEPT)}
    grouping = _grouping(draft, concepts, {b for above in direct.values() for b in above})
    above = _ancestors(draft, direct, "concepts")
    of_schemes: dict[int, set[int]] = defaultdict(set)
    in_scheme = {*draft.pairs(SKOS + "inScheme"), *draft.pairs(SKOS + "topConceptOf")}
    for concept, scheme in (*in_scheme, *((c, s) for s, c in draft.pairs(SKOS + "hasTopConcept"))):
        of_schemes[concept].add(scheme)
    collections: dict[int, set[int]] = defaultdict(set)
    for collection, member in draft.pairs(MEMBER):
        collections[member].add(collection)
    in_collections = _ancestors(draft, collections, "collections")
    schemes = {scheme for found in of_schemes.values() for scheme in found}
    members: dict[int, set[int]] = defaultdict(set)
    for concept in (above.keys() | of_schemes.keys() | in_collections.keys()) - grouping:
        for kind in (*above.get(concept, ()), *of_schemes.get(concept, ()), *in_collections.get(concept, ())):
            if draft.sort(kind)[0] == "iri":
                members[kind].add(concept)
    for concept in sorted(concepts):
        draft.add(concept, TYPE, draft.iri(CONCEPT))
    for kind in sorted(members, key=lambda k: (-len(members[k]), draft.text(k)))[:MAX_KINDS]:
        if kind in schemes and 1 < len(schemes) <= MAX_KIND_TABLES:
            for concept in sorted(members[kind]):
                draft.add(concept, TYPE, kind)
        else:
            draft.add_kinds((concept, kind) for concept in members[kind])


def _ancestors(draft: Draft, direct: dict[int, set[int]], what: str) -> Ancestors:
    closure = transitive_closure(direct)
    if not closure.complete:
        draft.limits.append(f"read skos: only the {MAX_NEAREST} nearest {what} above each one")
    return closure.ancestors


def _grouping(draft: Draft, concepts: set[int], inner: set[int]) -> set[int]:
    """The inner concepts with plural names, if most other concepts have singular names."""
    labels: dict[int, tuple[tuple[int, str], str]] = {}
    for concept, label in draft.pairs(PREFERRED):
        language = draft.sort(label)[2]
        if concept in concepts and language_rank(language)[0] <= 2:
            said = language_rank(language), draft.text(label)
            labels[concept] = min(labels.get(concept, said), said)
    plural = {concept for concept, (_, label) in labels.items() if is_plural(label)}
    outer = labels.keys() - inner
    return plural & inner if 2 * len(plural & outer) < len(outer) else set()
