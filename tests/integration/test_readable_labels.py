"""Labels that are JSON or codes, and types that are no kind of thing."""

from pathlib import Path

import pytest

from ingestion.induce.layout import Layout, induce_layout
from ingestion.read.parse import parse_files

GRAPH = """
@prefix : <http://example.org/yard/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:van1 a :Van, owl:NamedIndividual ; rdfs:label '{"id": "d8c6a1", "name": "Blue Van"}' .
:van2 a :Van ; rdfs:label "3f2b8c1e-77aa-4c3b-9d7e-0a1b2c3d4e5f" ; :name "Red Van" .
:van3 a owl:NamedIndividual, :Van ; rdfs:label "9f2b8c1e-77aa-4c3b-9d7e-0a1b2c3d4e5f" .
:x9 a :Van ; rdfs:label "{broken" .
:lone a owl:NamedIndividual ; rdfs:label "Lone" .
"""


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    path = tmp_path / "yard.ttl"
    path.write_text(GRAPH)
    return induce_layout(parse_files([path]))


def test_a_readable_name_is_shown(layout: Layout) -> None:
    names = [layout.facts.texts[n].rpartition("/")[2] for n in layout.entities.tolist()]
    shown = dict(zip(names, layout.labels, strict=True))
    assert {name: shown[name] for name in ("van1", "van2", "van3", "x9", "lone")} == {
        "van1": "Blue Van",
        "van2": "Red Van",
        "van3": "van 3",
        "x9": "{broken",
        "lone": "Lone",
    }


def test_individual_is_no_class_beside_another(layout: Layout) -> None:
    assert layout.classes.members == {
        "http://example.org/yard/Van": 4,
        "http://www.w3.org/2002/07/owl#NamedIndividual": 1,
    }


def test_things_of_two_classes_have_the_same_names(tmp_path: Path) -> None:
    """A name that is unique in a class names its things, though things of another class are called the same."""
    path, base = tmp_path / "yard.nt", "http://example.org/yard/"
    vans = ("Dora Pell", "Ida Moss", "Jon Quill")
    things = [*((f"plate{n}", "Plate", name) for n, name in enumerate(vans)),
              *((f"{n}", "Person", name) for n, name in enumerate(vans))]  # fmt: skip
    lines = (
        f"<{base}{iri}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{base}{kind}> .\n"
        f'<{base}{iri}> <{base}nombre> "{name}" .\n'
        for iri, kind, name in things
    )
    path.write_text("".join(lines), "utf-8")
    assert sorted(induce_layout(parse_files([path])).labels) == sorted(2 * vans)


def test_a_name_that_is_unique_in_one_class_names_its_things(tmp_path: Path) -> None:
    """Properties may begin with "has": tracks are named by a name that races share, and people by both names."""
    path, base = tmp_path / "yard.nt", "http://example.org/yard/"
    type_ = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    facts = [(f"race{n}", "hasName", "Spring Race") for n in range(12)]
    facts += [(f"track{n}", "hasName", name) for n, name in enumerate(("Long Meadow", "Old Mill", "Three Oaks"))]
    facts += [("p1", "hasForename", "Ida"), ("p1", "hasSurname", "Moss")]
    lines = [f'<{base}{thing}> <{base}{name}> "{text}" .\n' for thing, name, text in facts]
    lines += [f"<{base}{thing}> <{type_}> <{base}{thing.rstrip('0123456789')}> .\n" for thing, *_ in facts]
    path.write_text("".join(lines), "utf-8")
    labels = induce_layout(parse_files([path])).labels
    assert {"Long Meadow", "Old Mill", "Three Oaks", "Ida Moss"} <= set(labels)
    assert "Spring Race" not in labels


def test_names_that_say_their_language_or_kind_are_names(tmp_path: Path) -> None:
    """Those in English first, and short ones; a name that repeats the address says less than the address."""
    path = tmp_path / "yard.nt"
    values = {
        "Big_Van_the": {
            "nameShortEN": "the Big Van",
            "nameOfficialEN": "the Big Van of the Yard",
            "nameShortDE": "Groß",
        },
        "Small_Van_the": {"nameShortEN": "the Small Van", "nameOfficialEN": "Van, Small", "nameShortDE": "Klein"},
        "Old_Van": {"nameShortEN": "Old_Van"},
    }
    base = "http://example.org/yard/"
    facts = [(thing, name, text) for thing, names in values.items() for name, text in names.items()]
    path.write_text("".join(f'<{base}{thing}> <{base}{name}> "{text}" .\n' for thing, name, text in facts), "utf-8")
    layout = induce_layout(parse_files([path]))
    assert sorted(layout.labels) == ["Old Van", "the Big Van", "the Small Van"]
