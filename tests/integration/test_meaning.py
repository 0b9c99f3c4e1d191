"""What is derived from the common vocabularies: statements -> derived statements, and how many are kept aside."""

from pathlib import Path

import pytest

from ingestion.induce.layout import induce_layout
from ingestion.meaning.derive import derive_facts
from ingestion.read.parse import parse_files
from nacre.extensions.vocabularies.owl import ENDS

PREFIXES = """
@prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix s: <https://schema.org/> .
"""


def in_places(predicate: str, noun: str, first: str, second: str) -> set[tuple[str, str, str]]:
    """What is derived from the places of the two members of a list of `a`."""
    members = {"first": first, "second": second, "last": second}
    labels = {(f"{predicate}@{place}", "label", f"{place} {noun}") for place in members}
    labels |= {(f"{predicate}@{place}", "altLabel", words) for place, all_words in ENDS.items() for words in all_words}
    return labels | {("a", f"{predicate}@{place}", member) for place, member in members.items()}


CASES = {
    "a list": (
        ':a :steps ( "x" ( :b ) ) .',
        {("a", "steps", "x"), ("a", "steps", "b"), *in_places("steps", "step", "x", "b")},
        {"part of a list": 7},
    ),
    "a container": (
        ":a :has [ a rdf:Bag ; rdf:_1 :b ; rdf:_2 :c ] .",
        {("a", "has", "b"), ("a", "has", "c"), *in_places("has", "has", "b", "c")},
        {"part of a list": 4},
    ),
    "a quantity": (
        ':a s:weight [ a s:QuantitativeValue ; s:value 5 ; s:unitCode "KGM" ] .',
        {("a", "weight", "5 kg")},
        {"value behind a node": 4},
    ),
    "a span": (
        ':a s:height [ s:minValue 2 ; s:maxValue 3 ; s:unitText "m" ] .',
        {("a", "height", "2 - 3 m")},
        {"value behind a node": 4},
    ),
    "a named property": (
        ':a s:additionalProperty [ a s:PropertyValue ; s:name "Top speed" ; s:value "90 km/h" ] .',
        {("a", "additionalProperty#top-speed", "90 km/h"), ("additionalProperty#top-speed", "label", "Top speed")},
        {"value behind a node": 4},
    ),
    "a value with more to it": (
        ":a :pressure [ rdf:value 7 ; :measuredBy :c ] . :c :pressure 8 .",
        {("a", "pressure", "7")},
        {},
    ),
    "values of any vocabulary, one behind the other": (
        ':a :size [ :value [ :value 3 ] ; :unit [ :value "cm" ] ; :code "x" ] . :b :mark [ :value "ok" ] .',
        {("a", "size", "3 cm"), ("b", "mark", "ok")},
        {"value behind a node": 8},
    ),
    "a value of any vocabulary with more to it": (":a :size [ :value 3 ; :measuredBy :a ] .", set(), {}),
    "a name behind a node": (
        ':a :name [ :family [ :value "Berg" ] ; :given "Ann" ] . :b :name [ :text "Bo Ek" ; :use "usual" ] .',
        {("a", "name", "Ann Berg"), ("b", "name", "Bo Ek"), ("_:", "family", "Berg")},
        {"value behind a node": 2},
    ),
    "one thing with two names": (
        ':a a :K ; rdfs:label "A" ; :p :c . :b rdfs:label "B" ; owl:sameAs :a ; :q :y . :c :r :b .',
        {("a", "altLabel", "B"), ("a", "q", "y"), ("c", "r", "a"), ("a", "urn:nacre:records", "2")},
        {"same as another thing": 4},
    ),
    "two spellings of words and of a thing": (
        ":a a s:K ; s:in :caf%C3%A9 ; s:p 1 . :b a <http://schema.org/K> ; <http://schema.org/in> :café ."
        " :café s:q 2 . :d a <http://schema.org/K> .",
        {("a", "22-rdf-syntax-ns#type", "K"), ("a", "in", "café")},
        {"another spelling of an IRI": 2},
    ),
    "a document and what it is about": ("<http://example.org/a/> :about :a . :a :p 1 .", set(), {}),
    "an inverse": (
        ":parent owl:inverseOf :child . :a :parent :b . :c :child :d .",
        {("b", "child", "a"), ("d", "parent", "c")},
        {},
    ),
    "a transitive property": (
        ":part a owl:TransitiveProperty . :a :part :b . :b :part :c . :c :part :d , :a .",
        {("a", "part", "c"), ("a", "part", "d"), ("b", "part", "d"), ("b", "part", "a"), ("c", "part", "b")},
        {},
    ),
    "a symmetric property": (":near a owl:SymmetricProperty . :a :near :b .", {("b", "near", "a")}, {}),
    "codes of a group, which names the column": (
        ':c1 a :Code ; :grp "TYRE" ; :cd "W" ; :txt "winter" . :c2 a :Code ; :grp "TYRE" ; :cd "S" ; :txt "summer" .'
        ':c3 a :Code ; :grp "LAMP" ; :cd "W" ; :txt "white" . :c4 a :Code ; :grp "LAMP" ; :cd "S" ; :txt "soft" .'
        ':v a :Van ; :tyre_cd "W" ; :lampCode "S" .',
        {("v", "tyre_cd", "winter"), ("v", "lampCode", "soft")},
        {"code that a table describes": 2, "row of a code table": 16},
    ),
    "codes of a list of its own, by numbers": (
        ':s1 a :SHIFT ; :id 1 ; :name "early" . :s2 a :SHIFT ; :id 2 ; :name "late" .'
        " :v a :Van ; :shift 2 ; :seats 2 .",
        {("v", "shift", "late")},
        {"code that a table describes": 1, "row of a code table": 6},
    ),
    "codes of two lists that may be meant": (
        ':a1 a :HULL ; :id "W" ; :name "wood" . :a2 a :HULL ; :id "S" ; :name "steel" .'
        ':b1 a :SKY ; :id "W" ; :name "wind" . :b2 a :SKY ; :id "S" ; :name "sun" .'
        ' :v a :Van ; :kind "W" ; :sort "S" .',
        set(),
        {},
    ),
    "values that are no codes": (
        ':s1 a :SHIFT ; :id 1 ; :name "early" . :s2 a :SHIFT ; :id 2 ; :name "late" .'
        " :v a :Van ; :shift 1 , 2 , 3 . :w a :Van ; :seats 1 , 2 .",
        set(),
        {},
    ),
    "empty texts": (':a :mail "" ; :phone " " ; :fax "0" .', set(), {"empty text": 2}),
    "measurements of kinds": (
        ':a :has :a1 , :a2 . :a1 a :Mass ; :value 3 ; :unit "g" . :a2 a :Length ; :value 4 .',
        {("a", "Mass-value", "3 g"), ("a", "Length-value", "4"), ("Mass-value", "label", "mass")}
        | {("Length-value", "label", "length")},
        {"value behind a node": 7},
    ),
    "a measurement with more to it": (
        ':a :has :m . :m a :Mass ; :value 3 ; :unit "g" ; :day 1 . :Mass rdfs:label "body mass" .',
        {("m", "Mass-value", "3 g"), ("Mass-value", "label", "body mass")},
        {},
    ),
    "what an observation observed": (
        ":o a :Obs ; :of :a ; :observedProperty :wind ; :hasSimpleResult 7 . :wind rdfs:label 'wind speed' . :a :p 1 .",
        {("o", "wind-value", "7"), ("wind-value", "label", "wind speed")},
        {},
    ),
    "values that measure nothing": (":v a :Vote ; :value 3 ; :unit_of :w . :w :p 1 .", set(), {}),
    "a part of a thing": (
        ":a :address [ :street 'Kai 1' ; :town 'Ulm' ] . :b :address [ :street 'Kai 2' ; :town 'Ulm' ] .",
        {("a", "street", "Kai 1"), ("a", "town", "Ulm"), ("a", "address", "Kai 1, Ulm")}
        | {("b", "street", "Kai 2"), ("b", "town", "Ulm"), ("b", "address", "Kai 2, Ulm")},
        {"part of a thing": 6},
    ),
    "a part of a class": (":a :offers [ a :Offer ; :price 3 ] .", {("a", "price", "3")}, {}),
    "two parts of one property": (":a :offers [ :price 3 ] , [ :price 4 ] .", set(), {}),
    "parts that say the same of a thing": (":a :home [ :town 'Ulm' ] ; :work [ :town 'Bonn' ] .", set(), {}),
    "posts": (
        "[] a :Post ; :person :p ; :at :k ; :role :chair . :chair rdfs:label 'chair' . :k :p 1 . :p :p 2 .",
        {("k", "chair-value", "p"), ("chair-value", "label", "chair")},
        {},
    ),
    "places in a row are no posts": ("[] a :Post ; :person :p ; :at :k ; :position 1 . :p :p 1 . :k :p 2 .", set(), {}),
    "facts behind two nodes": (
        ":a :at [ :hall 'H' ; :in [ :town 'Oslo' ; :hall 'no' ; :by :a ; :map [ :sheet 4 ] ] ] .",
        {("_:", "town", "Oslo"), ("_:", "by", "a"), ("_:", "sheet", "4")},
        {},
    ),
    "a node that points": (
        ":a :of [ :link :b ; :reference 'b' ] . :b :p 1 ."
        " :a :code [ a :Concept ; :coding [ :code [ :value 'x-1' ] ] , [ :code 'y-2' ] ] .",
        {("a", "of", "b"), ("a", "code", "_:"), ("_:", "code", "x-1")},
        {"value behind a node": 2, "points at something": 7},
    ),
    "what several things lead to is not theirs": (
        ":a :at _:n . :b :at _:n . _:n :in [ :town 'Oslo' ] .",
        {("_:", "in", "Oslo"), ("_:", "town", "Oslo")},
        {"part of a thing": 2},
    ),
    "a node with more to it does not only point": (
        ":a :by [ :link :b ; :role 'x' ] . :b :p 1 .",
        {("a", "link", "b"), ("a", "role", "x")},
        {},
    ),
    "links to what nothing is said of": (
        ":a :is <http://e.org/on-hold>, <http://e.org/x/b%20c> ; :site <http://e.org/x> ; :mail <mailto:a@e.org> .",
        {("a", "is", "on-hold"), ("a", "is", "b c"), ("a", "site", "x"), ("a", "mail", "a@e.org")},
        {"nothing is said of its target": 4},
    ),
    "codes that end alike": (
        ":a :is <http://e.org/x/1#k>, <http://e.org/y/1#k> .",
        {("a", "is", "1#k")},
        {"nothing is said of its target": 2},
    ),
    "one link among many to what nothing is said of": (":a :near :b . :b :near :c . :c :near :d .", set(), {}),
    "nothing of the kind": (":a :p :a ; rdfs:label 'A' .", set(), {}),
}


@pytest.mark.parametrize(("graph", "derived", "aside"), CASES.values(), ids=CASES)
def test_what_is_derived(graph: str, derived: set[tuple[str, str, str]], aside: dict[str, int], tmp_path: Path) -> None:
    source = tmp_path / "graph.ttl"
    source.write_text(PREFIXES + graph, encoding="utf-8")
    facts = derive_facts(parse_files([source]))
    rows = [] if facts.derived is None else facts.derived.nonzero()[0].tolist()

    def short(term: int) -> str:
        text = facts.texts[term]
        if facts.term(term).kind == "blank":
            return "_:"
        return text.rsplit("/", 1)[-1].removeprefix("core#").removeprefix("rdf-schema#") if "//" in text else text

    found = {(short(facts.subject[r]), short(facts.predicate[r]), short(facts.object[r])) for r in rows}
    assert found == derived
    assert {reason: len(rows) for reason, rows in facts.aside.items()} == aside


def test_names_by_shape(tmp_path: Path) -> None:
    source = tmp_path / "graph.ttl"
    things = "".join(
        f':c{i} a :Country ; :countryName "Land {chr(65 + i)}" ; :continentName "North" .\n'
        f':p{i} a :Person ; :firstName "{chr(65 + i)}da" ; :surname "Lee" ; :employerName "Works" .\n'
        for i in range(8)
    )
    codes = ':n1 skos:notation "K 7" . :n2 skos:notation "K 8" ; skos:prefLabel "Keys" .'
    nodes = ':a :price [ a :Fee ; :amount 3.9E0 ; :sku "17-4" ; :kind "net" ; :page "https://e.org/x" ] .'
    foreign = ':Red_Kite rdfs:label "Rotmilan"@de . :Crane rdfs:label "crane"@en . :Rook rdfs:label "rook"@en .'
    source.write_text(PREFIXES + things + foreign + codes + nodes, encoding="utf-8")
    layout = induce_layout(parse_files([source]))
    names = dict(zip((layout.facts.texts[n] for n in layout.entities.tolist()), layout.labels, strict=True))
    assert names["http://example.org/c3"] == "Land D"
    assert names["http://example.org/p2"] == "Cda Lee"
    assert names["http://example.org/Red_Kite"] == "Red Kite"
    assert (names["http://example.org/n1"], names["http://example.org/n2"]) == ("K 7", "Keys")
    assert "3.9, net" in names.values()


def test_ranks_of_statements(tmp_path: Path) -> None:
    """Deprecated statements are set aside, and preferred ones come before normal ones."""
    (tmp_path / "graph.ttl").write_text("""
        @prefix : <http://example.org/> . @prefix w: <http://wikiba.se/ontology#> .
        :P1 w:claim :p ; w:statementProperty :ps .
        :a :p :a1 , :a2 , :a3 . :b :p :b1 , :b2 .
        :a1 :ps 1 ; w:rank w:DeprecatedRank . :a2 :ps 2 ; w:rank w:NormalRank . :a3 :ps 3 ; w:rank w:PreferredRank .
        :b1 :ps 4 ; w:rank w:DeprecatedRank . :b2 :ps 5 ; w:rank w:NormalRank .
    """)
    facts = derive_facts(parse_files([tmp_path / "graph.ttl"]))
    assert facts.derived is not None
    rows = facts.derived.nonzero()[0].tolist()
    derived = {tuple(facts.texts[n].rpartition("/")[2] for n in (facts.subject[r], facts.object[r])) for r in rows}
    assert derived >= {("a", "3"), ("b", "5")}
    assert not derived & {("a", "1"), ("a", "2"), ("b", "4")}
    assert len(facts.aside["deprecated statement"]) == 6
