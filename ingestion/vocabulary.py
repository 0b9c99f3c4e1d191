"""IRIs of common vocabularies: what declares a schema, what names things, what describes them."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType

from nacre.language.data import word_list, word_map

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

RDFS = "http://www.w3.org/2000/01/rdf-schema#"

OWL = "http://www.w3.org/2002/07/owl#"

VCARD = "http://www.w3.org/2006/vcard/ns#"

XSD = "http://www.w3.org/2001/XMLSchema#"

SKOS = "http://www.w3.org/2004/02/skos/core#"

SHACL = "http://www.w3.org/ns/shacl#"

# schema.org is used with both schemes
SCHEMA_ORG = ("https://schema.org/", "http://schema.org/")

TYPE = RDF + "type"

LABEL = RDFS + "label"

COMMENT = RDFS + "comment"

SUBCLASS = RDFS + "subClassOf"

SUBPROPERTY = RDFS + "subPropertyOf"

INVERSE = OWL + "inverseOf"

PREFERRED = SKOS + "prefLabel"

ALTERNATIVE = SKOS + "altLabel"

LANGUAGE_STRING = RDF + "langString"

CLASS_TYPES = frozenset({RDFS + "Class", OWL + "Class", RDFS + "Datatype", OWL + "DeprecatedClass"})

PROPERTY_TYPES = frozenset(
    {RDF + "Property"}
    | {
        OWL + name
        for name in (
            "ObjectProperty",
            "DatatypeProperty",
            "AnnotationProperty",
            "OntologyProperty",
            "FunctionalProperty",
            "InverseFunctionalProperty",
            "TransitiveProperty",
            "SymmetricProperty",
            "AsymmetricProperty",
            "ReflexiveProperty",
            "IrreflexiveProperty",
            "DeprecatedProperty",
        )
    }
)

SCHEMA_TYPES = (
    CLASS_TYPES
    | PROPERTY_TYPES
    | {
        OWL + name
        for name in ("Ontology", "Restriction", "AllDifferent", "AllDisjointClasses", "AllDisjointProperties")
    }
)

# these say nothing about a thing, so they name a table only if there is nothing else
EMPTY_TYPES = frozenset({OWL + "NamedIndividual", RDFS + "Resource", OWL + "Thing"})

SCHEMA_PREDICATES = frozenset(
    {SUBCLASS, SUBPROPERTY, INVERSE, RDFS + "domain", RDFS + "range"}
    | {OWL + name for name in ("equivalentClass", "equivalentProperty", "disjointWith", "propertyDisjointWith")}
)

# the datatype of triple terms (RDF 1.2), which are stored as they are written in N-Triples; no file may use it
TRIPLE_TERM = "urn:nacre:triple-term"

# the name that a semantic layer gives to a thing
LAYER_NAME = "urn:nacre:layer:name"

# lower is better; other predicates whose local name is a word for names come after these
NAME_RANK = {
    LAYER_NAME: 0,
    PREFERRED: 1,
    LABEL: 2,
    **{base + "name": 3 for base in SCHEMA_ORG},
    "http://xmlns.com/foaf/0.1/name": 3,
    "http://purl.org/dc/terms/title": 3,
    "http://purl.org/dc/elements/1.1/title": 3,
}

SHOWN_NAME_RANK, OTHER_NAME_RANK = 4, 5

# names a thing without a name
NOTATION = SKOS + "notation"

COMMENT_PREDICATES = frozenset(
    {
        COMMENT,
        SKOS + "definition",
        "http://purl.org/dc/terms/description",
        "http://purl.org/dc/elements/1.1/description",
        *(base + "description" for base in SCHEMA_ORG),
    }
)


@lru_cache(maxsize=1024)
def local_name(iri: str) -> str:
    """What comes after the last `#`, `/` or `:` of an IRI.

    >>> local_name("http://example.org/vocab#birthPlace")
    'birthPlace'
    """
    trimmed = iri.rstrip("/#")
    for mark in ("#", "/", ":"):
        head, found, tail = trimmed.rpartition(mark)
        if found and tail:
            return tail if head else trimmed
    return trimmed


@lru_cache(maxsize=1024)
def member_name(iri: str) -> str:
    """The local name of a predicate, without the class that modelling tools write before it.

    >>> member_name("http://example.org/uml#Conductor.length"), member_name("http://example.org/vocab#birthPlace")
    ('length', 'birthPlace')
    """
    owner, _, member = (name := local_name(iri)).rpartition(".")
    return member if member and owner.isidentifier() and owner[0].isupper() else name


@lru_cache(maxsize=1024)
def name_rank(iri: str) -> int | None:
    """The rank of a predicate as a name of things (0 is best); None if it does not name things.

    >>> name_rank("http://example.org/vocab#Name"), name_rank("http://example.org/vocab#height")
    (5, None)
    """
    known = NAME_RANK.get(iri)
    if known is not None:
        return known
    name = member_name(iri).lower().replace("_", "")
    if name in word_list("ingestion", "shown_name_words"):
        return SHOWN_NAME_RANK
    return OTHER_NAME_RANK if name in word_list("ingestion", "name_words") else None


@cache
def vocabulary_labels() -> Mapping[str, tuple[str, ...]]:
    """The labels of predicates of common vocabularies, by IRI; the first is shown."""
    namespaces = {"skos": (SKOS,), "vcard": (VCARD,), "schema": SCHEMA_ORG}
    found = {}
    for name, labels in word_map("ingestion", "predicate_labels").items():
        prefix, _, local = name.partition(":")
        for namespace in namespaces[prefix]:
            found[namespace + local] = tuple(labels.split(", "))
    return MappingProxyType(found)


def is_other_name(iri: str) -> bool:
    """Whether a predicate gives alternative names.

    >>> is_other_name("https://schema.org/alternateName"), is_other_name("http://example.org/name")
    (True, False)
    """
    local = member_name(iri).lower().replace("_", "")
    return iri == ALTERNATIVE or local in word_list("ingestion", "alternative_name_predicates")


def language_rank(language: str, preferred: Sequence[str] = ()) -> tuple[int, str]:
    """A sort key of languages: the preferred ones in their order, English, then none, then the others by their tag.

    >>> sorted(["fr", "", "en-gb", "de", "en"], key=language_rank)
    ['en', 'en-gb', '', 'de', 'fr']
    >>> language_rank("it-IT", ["it", "de"]) < language_rank("de", ["it", "de"]) < language_rank("en")
    True
    """
    tag = language.lower()
    for place, wanted in enumerate(preferred):
        if tag == wanted.lower() or tag.startswith(f"{wanted.lower()}-"):
            return place - len(preferred), tag
    if tag == "en":
        return 0, ""
    if tag.startswith("en-"):
        return 1, tag
    return (2, "") if not tag else (3, tag)
