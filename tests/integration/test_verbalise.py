"""Sentences made of facts: what is said, in which order, and what is kept out."""

from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from ingestion.index.passages import MAX_TITLE, PASSAGE_LENGTH, bounded_spans, pack_passages
from ingestion.induce.declarations import MAX_COMMENT, MAX_LABEL, MAX_OTHER_LABELS
from ingestion.induce.write_tables import write_tables
from ingestion.read.parse import parse_files
from nacre.extensions.endpoints.describe_endpoint import describe_endpoint
from nacre.extensions.endpoints.endpoint import EndpointSource
from nacre.extensions.endpoints.probe import Budget, BudgetedEndpoint, probe_endpoint
from nacre.extensions.fact_sentences.passages import verbalise
from nacre.records.evidence import Passage, Sentence
from nacre.records.schema import Class, Predicate
from nacre.stores.sqlite.passages import Passages, PredicateNumbers, write_passages
from tests.support import sparql_server

PREFIXES = """
@prefix : <http://example.org/thing/> .
@prefix v: <http://example.org/vocab#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


@pytest.fixture
def say(tmp_path: Path):
    def said(turtle: str) -> list[Passage]:
        source = tmp_path / "graph.ttl"
        source.write_text(PREFIXES + turtle, encoding="utf-8")
        schema = write_tables(parse_files([source]), tmp_path / "graph.sqlite")
        predicates, path = PredicateNumbers(count().__next__), tmp_path / "passages.sqlite"
        path.unlink(missing_ok=True)
        write_passages(verbalise(parse_files([source]), schema, predicates), path, predicates)
        with closing(Passages(path)) as passages:
            return passages.get(passages.written())

    return said


def sentences(passages: list[Passage], title: str) -> list[str]:
    return [s.text for p in passages if p.title == title for s in p.sentences]


def test_one_fact_is_one_short_sentence_that_knows_its_triple(say) -> None:
    passages = say(':oak a v:Tree ; rdfs:label "Oak" ; v:leafShape "lobed" .')
    assert sentences(passages, "Oak") == ["Oak is a tree.", "The leaf shape of Oak is lobed."]
    (passage,) = passages
    assert passage.key == "http://example.org/thing/oak"
    assert passage.sentences[1].triple == (
        "http://example.org/thing/oak",
        "http://example.org/vocab#leafShape",
        "lobed",
    )


def test_predicates_are_worded_as_in_answers(say) -> None:
    passages = say(
        ':m a v:Mill ; rdfs:label "Old Mill" ; v:built "1850-03-02"^^xsd:date ; v:hasRoof true ; v:liesIn :t .'
        ':t a v:Town ; rdfs:label "Hay" .'
    )
    said = sentences(passages, "Old Mill")
    assert {"Old Mill was built on 1850-03-02.", "Old Mill has a roof.", "Old Mill lies in Hay."} <= {*said}


def test_several_values_go_into_one_sentence_of_at_most_eight(say) -> None:
    parts = " , ".join(f'"part {n:02}"' for n in range(10))
    said = sentences(say(f':m a v:Machine ; rdfs:label "M" ; v:equipment {parts} .'), "M")
    assert said[1].startswith("The equipment of M includes part 00, part 01")
    assert said[1].endswith("part 06 and part 07.")
    assert said[2] == "The equipment of M includes part 08 and part 09."


def test_who_links_here_is_said_from_this_side(say) -> None:
    passages = say(
        ':a a v:City ; rdfs:label "Aa" . :l a v:Land ; rdfs:label "Ll" ; v:capital :a .'
        + "".join(f':r{n} a v:River ; rdfs:label "R{n:02}" ; v:locatedIn :l .' for n in range(15))
    )
    assert "Aa is the capital of Ll." in sentences(passages, "Aa")
    assert "The capital of Ll is Aa." in sentences(passages, "Ll")
    (many,) = [text for text in sentences(passages, "Ll") if "R00" in text]
    assert many.startswith("R00, R01, ")
    assert many.endswith("R11 and 3 more are located in Ll.")
    assert "R03 is located in Ll." in sentences(passages, "R03")


def test_a_link_in_both_directions_is_said_once(say) -> None:
    passages = say(
        ':a a v:Land ; rdfs:label "Aa" ; v:borders :b , :c . :b a v:Land ; rdfs:label "Bb" ; v:borders :a .'
        ' :c a v:Land ; rdfs:label "Cc" .'
    )
    assert sentences(passages, "Aa") == ["Aa is a land.", "Aa borders Bb and Cc."]
    assert sentences(passages, "Cc") == ["Cc is a land.", "Aa borders Cc."]


def test_texts_come_first_and_verbatim(say) -> None:
    story = "It grew here. Nobody knows, e.g. why it did so. " * 4
    passages = say(f':a a v:Tree ; rdfs:label "Aa" ; v:height "4 m" ; v:story "{story.strip()}" .')
    said = sentences(passages, "Aa")
    assert said[:2] == ["It grew here.", "Nobody knows, e.g. why it did so."]
    assert said[-1] == "The height of Aa is 4 m."


def test_a_long_passage_is_split_and_each_part_has_the_title(say) -> None:
    facts = " ; ".join(f'v:property{n:02} "{"word " * 12}{n}"' for n in range(30))
    passages = say(f':a a v:Thing ; rdfs:label "Aa" ; {facts} .')
    assert len(passages) > 2
    assert {p.title for p in passages} == {"Aa"}
    assert all(len(p.text) <= PASSAGE_LENGTH + 1 for p in passages)
    assert len({p.id for p in passages}) == len(passages)


def test_names_booleans_and_numbers(say) -> None:
    said = sentences(
        say(
            ':a a v:Tree ; rdfs:label "Aa" ; skos:altLabel "Old Aa" ; v:isMajor true ; v:isOpen false ;'
            ' v:size "5.0"^^xsd:double .'
        ),
        "Aa",
    )
    assert said == [
        "Aa is a tree.",
        "Aa is also called Old Aa.",
        "Aa is major.",
        "Aa is not open.",
        "The size of Aa is 5.",
    ]


def test_blank_nodes_are_described_inside_and_lists_are_flat(say) -> None:
    passages = say(
        ':a a v:Shop ; rdfs:label "Aa" ; v:address [ v:street "High St" ; v:city [ rdfs:label "Bb" ] ] ;'
        ' v:floors ( "ground" "first" ) .'
    )
    said = sentences(passages, "Aa")
    assert "The address of Aa is (city: Bb; street: High St)." in said
    assert "The floors of Aa are ground and first." in said
    assert {p.title for p in passages} == {"Aa"}


def test_blank_nodes_in_a_circle_end(say) -> None:
    passages = say(':a a v:Thing ; rdfs:label "Aa" ; v:next _:x . _:x v:next _:y ; v:colour "red" . _:y v:next _:x .')
    assert any("red" in text for text in sentences(passages, "Aa"))
    assert not any("_:" in s.text for p in passages for s in p.sentences)


def test_schema_statements_are_left_out(say) -> None:
    passages = say(
        'v:Tree a rdfs:Class ; rdfs:label "Tree" ; rdfs:comment "A plant." . v:leaf rdfs:label "Leaf" ;'
        ' rdfs:domain v:Tree . :a a v:Tree ; rdfs:label "Aa" ; v:leaf "round" .'
    )
    assert [p.title for p in passages] == ["Aa"]


def test_hidden_characters_are_not_shown(say) -> None:
    said = sentences(say(':a a v:Tree ; rdfs:label "A\\u202Ea\\u0007" ; v:note "x\\ny\\u200B" .'), "Aa")
    assert said == ["Aa is a tree.", "The note of Aa is x y."]


def test_a_thing_without_a_name_is_called_after_what_links_to_it(say) -> None:
    passages = say(
        ':m a v:Model ; rdfs:label "Mm" ; v:engine <http://example.org/engine/m> .'
        ' <http://example.org/engine/m> a v:Engine ; v:power "5 kW" . :Berlin a v:Town ; v:size "big" .'
        ' :n a v:Model ; rdfs:label "Nn" ; v:home :Berlin .'
    )
    assert "The power of the engine of Mm is 5 kW." in sentences(passages, "The engine of Mm")
    assert "The size of Berlin is big." in sentences(passages, "Berlin")


def test_translations_are_left_out_where_english_is_there(say) -> None:
    said = sentences(say(':a a v:Tree ; rdfs:label "Aa" ; v:use "wood"@en , "Holz"@de . :b v:use "bois"@fr .'), "Aa")
    assert said == ["Aa is a tree.", "The use of Aa is wood."]


def test_the_same_graph_gives_the_same_passages(say) -> None:
    turtle = ':a a v:Tree ; rdfs:label "Aa" ; v:near [ v:x "1" ] , [ v:x "2" ] . :b v:near :a ; rdfs:label "Bb" .'
    assert say(turtle) == say(turtle)


def test_a_sentence_longer_than_a_passage_is_cut_between_words() -> None:
    text = "word " * 400
    spans = list(bounded_spans(text))
    assert all(end - start <= PASSAGE_LENGTH for start, end in spans)
    assert " ".join(text[start:end].strip() for start, end in spans) == text.strip()


def test_a_name_of_a_megabyte_is_short_in_each_sentence_and_passage(say) -> None:
    name = " ".join(f"word{number}" for number in range(100_000))
    notes = " ".join(f':b v:note "note {number} of it" . :b v:part :p{number} .' for number in range(100))
    passages = say(f':b a v:Owner ; rdfs:label "{name}" . {notes} <http://example.org/{"x" * 100_000}> v:near :b .')
    assert len(passages) > 10
    assert max(len(passage.title) for passage in passages) <= MAX_TITLE
    # the name is stated once as a whole
    assert sum(len(passage.text) + len(passage.title) for passage in passages) < 2 * len(name)


@pytest.mark.parametrize("is_attached", [False, True], ids=["ingested", "attached"])
def test_texts_of_a_megabyte_are_short_in_the_schema(tmp_path: Path, is_attached: bool) -> None:
    words = " ".join(f"word{number}" for number in range(150_000))
    name = "_".join(f"word{number}" for number in range(10_000))
    stated = f'rdfs:label "height {words}" ; rdfs:comment "{words}"'
    others = ", ".join(f'"other {number}"' for number in range(1000))
    source = tmp_path / "graph.ttl"
    source.write_text(
        f"{PREFIXES} :a a v:Mill, v:{name} ; v:height 3 ; v:to_{name} 4 . :b a v:Mill ; v:height 5 ."
        f'v:height {stated} ; skos:altLabel "{words}", {others} . v:Mill {stated} ; skos:altLabel "{words}", {others} .'
    )
    if is_attached:
        with sparql_server.endpoint(source) as url, closing(EndpointSource(url)) as endpoint:
            schema = describe_endpoint(probe_endpoint(BudgetedEndpoint(endpoint, Budget()))).schema
    else:
        schema = write_tables(parse_files([source]), tmp_path / "graph.sqlite")
    described: list[Class | Predicate] = [*schema.classes, *schema.predicates]
    assert len([each for each in described if each.label.startswith("height word0")]) == 2
    assert len([each for each in described if len(each.iri) > 10_000]) == 2
    labels = [label for each in described for label in (each.label, *each.alt_labels)]
    assert max(map(len, [*labels, *(each.label for each in schema.groups)])) <= MAX_LABEL
    assert max(len(each.alt_labels) for each in described) == MAX_OTHER_LABELS
    assert max(len(each.comment) for each in described) == MAX_COMMENT


def test_a_key_of_a_megabyte_is_in_one_passage() -> None:
    sentences = [Sentence("It is long and ends here."[:20] * 10)] * 500
    assert len(list(pack_passages("http://e/" + "x" * 1_000_000, "title", sentences))) == 1
    assert len(list(pack_passages("http://e/x", "title", sentences))) > 100
