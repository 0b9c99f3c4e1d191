"""The IRIs that carry meaning for any graph: what declares schema, what names things, what describes them."""

from functools import lru_cache

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
VCARD = "http://www.w3.org/2006/vcard/ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SHACL = "http://www.w3.org/ns/shacl#"
# schema.org is written both ways
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
# These say nothing about a thing, so they name a table only where there is nothing else.
EMPTY_TYPES = frozenset({OWL + "NamedIndividual", RDFS + "Resource", OWL + "Thing"})

SCHEMA_PREDICATES = frozenset(
    {SUBCLASS, SUBPROPERTY, INVERSE, RDFS + "domain", RDFS + "range"}
    | {OWL + name for name in ("equivalentClass", "equivalentProperty", "disjointWith", "propertyDisjointWith")}
)

# Lower is better; anything else whose local name is one of NAME_WORDS comes after these.
NAME_RANK = {
    PREFERRED: 0,
    LABEL: 1,
    **{base + "name": 2 for base in SCHEMA_ORG},
    "http://xmlns.com/foaf/0.1/name": 2,
    "http://purl.org/dc/terms/title": 2,
    "http://purl.org/dc/elements/1.1/title": 2,
}
# names a thing that has no name
NOTATION = SKOS + "notation"
NAME_WORDS = frozenset({"name", "title", "label"})
# local names of predicates that give other names
OTHER_NAME_WORDS = frozenset(
    "alternatename altname altlabel alternativename alternativelabel othername alias aka alsoknownas acronym".split()
)
# What people call the predicates of vocabularies that a graph uses and seldom describes; the first is shown.
KNOWN_NAMES = {
    ALTERNATIVE: ("other name", "alt label", "synonym", "alias"),
    SKOS + "hiddenLabel": ("hidden name", "misspelling"),
    SKOS + "broader": ("broader concept", "broader term", "broader"),
    SKOS + "narrower": ("narrower concept", "narrower term", "narrower"),
    SKOS + "related": ("related concept", "related term", "related to"),
    SKOS + "inScheme": ("scheme", "in scheme"),
    SKOS + "topConceptOf": ("scheme as top concept", "top concept of"),
    SKOS + "hasTopConcept": ("top concept",),
    **{
        base + name: said
        for base in SCHEMA_ORG
        for name, said in {
            "streetAddress": ("street address", "street"),
            "addressLocality": ("locality", "city", "town", "address locality"),
            "addressRegion": ("region", "state", "address region"),
            "addressCountry": ("country", "address country"),
            "postalCode": ("postal code", "postcode", "zip code"),
            "priceCurrency": ("currency", "price currency"),
            "birthDate": ("birth date", "date of birth"),
            "numberOfEmployees": ("number of employees", "staff", "number of staff"),
        }.items()
    },
    **{
        VCARD + name: said
        for name, said in {
            "street-address": ("street address", "street"),
            "locality": ("locality", "city", "town"),
            "country-name": ("country", "country name"),
            "postal-code": ("postal code", "postcode", "zip code"),
        }.items()
    },
    "http://www.w3.org/2006/vcard/ns#fn": ("formatted name", "full name", "name"),
    "http://www.w3.org/2006/vcard/ns#hasEmail": ("email",),
    "http://www.w3.org/2006/vcard/ns#hasTelephone": ("telephone", "phone number"),
}
# properties that give other names, by the words of their own; they are called as ALTERNATIVE is, too
OTHER_NAMES = frozenset(
    {"alternate name", "alternative name", "alt name", "other name", "alternative label", "also known as", "aka"}
)
COMMENT_PREDICATES = frozenset(
    {
        COMMENT,
        SKOS + "definition",
        "http://purl.org/dc/terms/description",
        "http://purl.org/dc/elements/1.1/description",
        *(base + "description" for base in SCHEMA_ORG),
    }
)
IDENTIFIER_WORDS = frozenset({"identifier", "id", "code", "key", "uuid", "guid", "sku", "isbn", "notation", "slug"})

# the last word of names of numbers that tell things apart, where each has one of its own
NUMBERING = frozenset({"no", "nr", "nbr", "num", "number"})
# numbers that somebody is called by, and not told apart
CALLED_BY = frozenset({"phone", "telephone", "tel", "fax", "mobile", "cell"})


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
def name_rank(iri: str) -> int | None:
    """How good a predicate names a thing (0 is best), None when it does not.

    >>> name_rank("http://example.org/vocab#Name"), name_rank("http://example.org/vocab#height")
    (3, None)
    """
    known = NAME_RANK.get(iri)
    if known is not None:
        return known
    return 3 if local_name(iri).lower() in NAME_WORDS else None


def is_other_name(iri: str) -> bool:
    """Whether a predicate gives things names beside the one that they are shown by.

    >>> is_other_name("https://schema.org/alternateName"), is_other_name("http://example.org/name")
    (True, False)
    """
    return iri == ALTERNATIVE or local_name(iri).lower().replace("_", "") in OTHER_NAME_WORDS


def language_rank(language: str) -> tuple[int, str]:
    """Sorts languages: English, then none, then the others by their tag.

    >>> sorted(["fr", "", "en-gb", "de", "en"], key=language_rank)
    ['en', 'en-gb', '', 'de', 'fr']
    """
    tag = language.lower()
    if tag == "en":
        return 0, ""
    if tag.startswith("en-"):
        return 1, tag
    return (2, "") if not tag else (3, tag)
