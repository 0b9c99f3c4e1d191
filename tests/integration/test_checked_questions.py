"""The questions that an ingest suggests: English that a person would use, about what the graph is about, answered."""

import re
from pathlib import Path

import pytest

from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.extensions.client.facade import Nacre
from nacre.extensions.suggestions.example_questions import find_example_questions, known_questions, translated_question
from nacre.language.word_forms import is_plural
from nacre.serving.cli.options import open_library

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests/fixtures"
GRAPHS = [
    ROOT / "examples/bmw/kg.ttl",
    *(FIXTURES / f"graphs/{name}.ttl" for name in ("museum", "company", "university")),
    *(FIXTURES / f"vocabularies/{name}.ttl" for name in ("pasta", "garden_tools", "instruments", "minerals")),
]


@pytest.mark.parametrize("path", GRAPHS, ids=lambda p: p.stem)
def test_suggestions_are_questions(path: Path, tmp_path: Path) -> None:
    ingest([str(path)], "g", data=tmp_path, no_vectors=True)
    with open_library(Settings(data=tmp_path, embedder="none", _env_file=None)) as library, library.open("g") as graph:
        found = find_example_questions(graph)
        # a thesaurus without numbers or links of its own has two kinds of questions
        assert len(found) >= 2
        for question in found:
            assert question.endswith("?")
            assert "_" not in question
            assert "concept" not in question
            # a count of all tells nothing
            assert not (question.startswith("How many") and question.endswith("are there?"))
            start, _, rest = question.partition(" ")
            if start == "Which" and " has " in rest:
                assert not is_plural(rest.partition(" has ")[0])
            if start == "Which" and " have " in rest:
                assert is_plural(rest.partition(" have ")[0])


def test_a_table_that_was_added_is_asked_about(tmp_path: Path) -> None:
    graph, ferries = FIXTURES / "graphs/museum.ttl", tmp_path / "ferries.csv"
    ferries.write_text("Ferry,Port,Seats\nGannet,Oban,120\nTern,Oban,80\nPetrel,Skye,95\n")
    ingest([str(graph)], "g", data=tmp_path, no_vectors=True)
    ingest([str(ferries)], "g", data=tmp_path, no_vectors=True, add=True)
    with open_library(Settings(data=tmp_path, embedder="none", _env_file=None)) as library, library.open("g") as stored:
        found = find_example_questions(stored, 6)
    assert 0 < sum("ferries" in each or "ferry" in each.lower() for each in found) < len(found)


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        (
            "orgelbau",
            r"^Wie (hoch ist|lautet) |^(Welche|Wie viele) \w+ (haben|wurden|gibt es|\w+en) ",
        ),
        ("fromagerie", r"^(Moyenne|Nombre) de |^\w.* (avec|de) |^\w.* : .* qui "),
        ("seilbahn", r"^(Which|What|How many) "),
    ],
)
def test_suggestions_are_in_the_language_of_the_labels_and_answered(name: str, forms: str, tmp_path: Path) -> None:
    ingest([str(FIXTURES / f"languages/{name}.ttl")], "g", data=tmp_path, no_vectors=True)
    with open_library(Settings(data=tmp_path, embedder="none", _env_file=None)) as library, library.open("g") as stored:
        found = find_example_questions(stored, 6)
        known = known_questions(stored, 6, 30.0)
        labels = {each.label.lower().partition(" (")[0] for each in stored.schema.predicates}
    assert len(found) >= 3
    # with their values they are the questions that measure a model
    assert [question for question, _ in known] == found
    assert all(values for _, values in known)
    with Nacre(tmp_path) as opened:
        for question in found:
            assert re.search(forms, question), question
            assert name == "seilbahn" or any(label in question.lower() for label in labels)
            assert opened.graph("g").ask(question, mind="rules").record["status"] == "answered", question


def test_suggestions_are_about_all_central_classes_and_no_coordinates(tmp_path: Path) -> None:
    rows = "".join(f"Job {w},{i},fine\nJob big {w},{i},bad\n" for i, w in enumerate(("oak", "elm", "ash", "fir")))
    (tmp_path / "jobs.csv").write_text(f"Job,Price,State\n{rows}")
    (tmp_path / "quays.csv").write_text("Quay,Latitude,Longitude,Owner\nElm,50,1,Ann\nOak,51,2,Ann\nAsh,52,3,Bo\n")
    files = [str(tmp_path / name) for name in ("jobs.csv", "quays.csv")]
    ingest(files, "g", data=tmp_path / "data", no_vectors=True)
    settings = Settings(data=tmp_path / "data", embedder="none", _env_file=None)
    with open_library(settings) as library, library.open("g") as graph:
        found = find_example_questions(graph, 6)
    assert any("job" in each.lower() for each in found), found
    assert any("quay" in each.lower() or "owner" in each.lower() for each in found), found
    assert not any("itude" in each for each in found)


@pytest.mark.parametrize(
    ("head", "asked"),
    [
        ("No;Item;Lent to;Deposit;State", ("How many have the state damaged?", "What is the average deposit?")),
        (
            "Nr;Gegenstand;Standort;Preis (€);Zustand",
            ("Wie viele gibt es mit Zustand damaged?", "Wie hoch ist „Preis“"),
        ),
    ],
)
def test_a_sheet_whose_name_is_no_noun_has_suggestions(head: str, asked: tuple[str, ...], tmp_path: Path) -> None:
    rows = [f"{i};Tent {i % 4};Reed {i % 3};{20 + i},50;{('fine', 'damaged', 'worn')[i % 3]}" for i in range(1, 13)]
    (tmp_path / "list 2025.csv").write_text("\n".join([head, *rows]), encoding="utf-8")
    ingest([str(tmp_path / "list 2025.csv")], "g", data=tmp_path / "data", no_vectors=True)
    settings = Settings(data=tmp_path / "data", embedder="none", _env_file=None)
    with open_library(settings) as library, library.open("g") as graph:
        found = find_example_questions(graph, 9)
    for text in asked:
        assert any(each.startswith(text) for each in found), found


def test_no_suggestion_ranks_things_that_share_the_first_place(tmp_path: Path) -> None:
    rows = [("Ash", 30, 7), ("Elm", 30, 9), ("Fir", 12, 4), ("Oak", 21, 5)]
    (tmp_path / "g.ttl").write_text(
        "@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        + "\n".join(f':{n} a :Tree ; rdfs:label "{n}" ; :height {tall} ; :price {cost} .' for n, tall, cost in rows),
        encoding="utf-8",
    )
    ingest([str(tmp_path / "g.ttl")], "g", data=tmp_path / "data", no_vectors=True)
    settings = Settings(data=tmp_path / "data", embedder="none", _env_file=None)
    with open_library(settings) as library, library.open("g") as graph:
        found = find_example_questions(graph, 9)
    assert "Which tree has the highest price?" in found
    assert "Which tree has the highest height?" not in found


def test_a_class_that_is_no_plural_is_asked_for_without_one() -> None:
    assert translated_question("list", "Gewitter", "Ort", "Aue", "de") == "Gewitter mit Ort Aue?"
