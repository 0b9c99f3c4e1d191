"""What a model is shown of a schema that does not fit: 300 classes, 1,500 tokens, the tables that questions need."""

from collections.abc import Iterator
from functools import partial

import pytest

from agents.model_calls import CHARACTERS_PER_TOKEN
from ingestion.index.lexicon import write_names
from ingestion.induce.layout import induce_layout
from ingestion.induce.write_tables import write_layout
from ingestion.read.parse import parse_files
from nacre.extensions.model_agents.query_prompt import relevant_tables, whole_schema
from nacre.records.turn import Rewrite
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.schema_sql import schema_sql
from nacre.stores.sqlite.tables import Tables
from nacre.understanding.understand import understand
from tests.support.large_graph import QUESTIONS, classes, turtle

FINDS_EXAMPLES = True

TOKENS = 1500
RECALL = 0.95

Opened = tuple[Tables, Lexicon]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    folder = tmp_path_factory.mktemp("large")
    (folder / "large.ttl").write_text(turtle(), "utf-8")
    layout = induce_layout(parse_files([folder / "large.ttl"]))
    write_names(layout, write_layout(layout, folder / "graph.sqlite"), folder / "lexicon.sqlite")
    tables = Tables(folder / "graph.sqlite")
    yield tables, Lexicon(folder / "lexicon.sqlite", tables.schema)
    tables.close()


def shown(question: str, opened: Opened) -> str:
    tables, lexicon = opened
    understanding = understand(Rewrite(question), tables.schema, lexicon)
    return relevant_tables(understanding, tables.schema, lexicon, TOKENS, partial(schema_sql, tables))


def needed(tables: str, opened: Opened) -> set[str]:
    """The tables and the junctions between them, where one class has many of the other."""
    names, schema = set(tables.split()), opened[0].schema
    many = {other for name, (_, other) in classes().items() if {name, other} <= names}
    # a word of SQL is no name of a table
    relations = {each.label: each.relation for each in schema.classes}
    return {relations[name.replace("_", " ")] for name in names} | {
        schema.junctions[iri] for other in many if (iri := f"http://example.org/with_{other}") in schema.junctions
    }


def test_the_graph_is_large_enough(opened: Opened) -> None:
    schema = opened[0].schema
    assert len(classes()) == len(schema.classes) == 300
    assert schema.junctions, "some links are many to many"
    assert {name for _, wanted in QUESTIONS for name in wanted.split()} <= set(classes())
    assert len(QUESTIONS) == 40
    assert whole_schema(schema, TOKENS, partial(schema_sql, opened[0])) is None


def test_the_tables_that_a_question_needs_are_shown(opened: Opened) -> None:
    missed: dict[str, set[str]] = {}
    total = 0
    for question, names in QUESTIONS:
        text, wanted = shown(question, opened), needed(names, opened)
        total += len(wanted)
        lacks = {name for name in wanted if f"CREATE TABLE {name} (" not in text}
        if lacks:
            missed[question] = lacks
    recall = 1 - sum(map(len, missed.values())) / total
    print(f"recall {recall:.1%} of {total} tables, {len(QUESTIONS) - len(missed)} of {len(QUESTIONS)} questions whole")
    assert recall >= RECALL, missed


@pytest.mark.parametrize("question", [QUESTIONS[0][0], "What is there?", "", "height " * 500])
def test_the_budget_holds_whatever_is_asked(question: str, opened: Opened) -> None:
    text = shown(question, opened)
    assert len(text) <= TOKENS * CHARACTERS_PER_TOKEN
    assert "CREATE TABLE entity" in text
