"""Queries that are translated once for all values of their parameters."""

import pytest
import sqlglot

from nacre.extensions.databases.attached import AttachedColumn, AttachedDatabase, AttachedTable
from nacre.extensions.databases.templates import NativeQuery, Templates
from nacre.extensions.databases.translate import Relations, translate

BOAT = AttachedTable(
    "boat",
    "",
    "boat",
    "urn:nacre:db:boat",
    ("no",),
    ("integer",),
    ("name",),
    (AttachedColumn("name", "name", "text"), AttachedColumn("length", "length", "real")),
)
BERTH = AttachedTable("berth", "", "berth", "urn:nacre:db:berth", ("pier", "place"), ("text", "integer"))
DATABASE = AttachedDatabase("", "postgres", (BOAT, BERTH))
BY_KEY = "SELECT name FROM boat WHERE id = ?"


@pytest.fixture
def relations() -> Relations:
    return Relations(DATABASE)


def native(relations: Relations, sql: str, *params: str | int | float | None, limit: int | None = None) -> NativeQuery:
    return translate(sql, params, DATABASE, relations, limit=limit)


def test_a_query_is_parsed_once_for_all_values(relations: Relations, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def parse(sql: str, dialect: str) -> sqlglot.exp.Expr:
        parsed.append(sql)
        return sqlglot.parse_one(sql, dialect=dialect)

    monkeypatch.setattr("nacre.extensions.databases.translate.parse_one", parse)
    texts = [native(relations, BY_KEY, f"urn:nacre:db:boat/no={number}", limit=5).text for number in (1, 22, -3)]
    assert [text.rsplit("= ", 1)[1] for text in texts] == ["1\nLIMIT 5", "22\nLIMIT 5", "(-3)\nLIMIT 5"]
    assert len(parsed) == 1
    # another limit is no other query
    assert native(relations, BY_KEY, "urn:nacre:db:boat/no=1", limit=7).text == texts[0].replace("LIMIT 5", "LIMIT 7")
    assert len(parsed) == 1
    # the row of another table is
    assert "FALSE" in native(relations, BY_KEY, "urn:nacre:db:berth/pier=a;place=1", limit=5).text
    assert len(parsed) == 2


@pytest.mark.parametrize("value", [0, 7, -7, 2.5, -2.5, "plain", "O'Hara", "-- x", "", None, "urn:nacre:db:none/x=1"])
def test_each_value_gives_what_it_gives_alone(relations: Relations, value: str | int | float | None) -> None:
    sql = "SELECT name FROM boat WHERE name = ? AND length - ? > 1 AND name <> ?"
    for before in ("other", 5, -5, None, "urn:nacre:db:boat/no=2"):
        native(relations, sql, before, before, before)
    for params in ((value, 1, "x"), ("x", value, "x"), ("x", 1, value)):
        assert native(relations, sql, *params) == native(Relations(DATABASE), sql, *params)


def test_all_parts_of_a_key_are_filled_in(relations: Relations) -> None:
    sql = "SELECT id FROM berth WHERE id = ?"
    for pier in ("a", "b%27", ""):
        query = native(relations, sql, f"urn:nacre:db:berth/pier={pier};place=-4")
        assert "(-4)" in query.text
        assert query.params == (("b'",) if pier == "b%27" else ())
    assert "IS NULL" in native(relations, sql, "urn:nacre:db:berth/pier=;place=1").text


@pytest.mark.parametrize("text", ["a:nacre_bind_0 b", ":p0", "nacremark", ":nacremarkh0", "nacremarkp0k0"])
def test_texts_that_look_like_marks_are_texts(relations: Relations, text: str) -> None:
    query = native(relations, f"SELECT name FROM boat WHERE name = '{text}' OR name = ?", "O'Hara' OR 1=1 --")
    assert query.params == ("O'Hara' OR 1=1 --",)
    assert f"'{text}'" in query.text


def test_equal_texts_are_one_parameter(relations: Relations) -> None:
    query = native(relations, "SELECT name FROM boat WHERE name = ? OR name = ? OR name = ?", "a'", "a'", "b'")
    assert query.params == ("a'", "b'")


def test_templates_are_forgotten_beyond_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nacre.extensions.databases.templates._MOST_TEMPLATES", 3)
    relations = Relations(DATABASE)
    for number in range(9):
        native(relations, f"SELECT name FROM boat WHERE length > {number}")
    templates: Templates = relations.templates
    assert len(templates) == 3
    monkeypatch.setattr("nacre.extensions.databases.templates._MOST_CHARACTERS", 10)
    native(relations, "SELECT name FROM boat")
    assert len(templates) == 0
