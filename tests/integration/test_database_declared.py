"""Databases whose names and links are guessed, and declared in a layer: names of people, views that repeat tables, keys
and links that are refused."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graph.builder import compose
from graph.stream import stream_turn
from ingestion.layer.layer_file import LayerFile, LayerFiles
from nacre.config.settings import Settings
from nacre.extensions.databases.attach_database import AttachedResult, attach_database
from nacre.extensions.foreign_queries.run_model_sql import run_model_sql
from nacre.records.answer import Answer
from nacre.stores.catalog import Library

# a title before the name, a view of all and one of some, links by text, a link table, a table's own number
GYM = """
CREATE TABLE trainers (id INTEGER PRIMARY KEY, title TEXT, first_name TEXT, last_name TEXT, role TEXT, size INTEGER);
INSERT INTO trainers VALUES (1, 'Dr', 'Ida', 'Holm', 'head', 170), (2, 'Prof', 'Per', 'Lund', 'coach', 182),
 (3, 'Dr', 'Eva', 'Berg', 'coach', 165), (4, 'Sir', 'Tor', 'Vik', 'coach', 176), (5, 'Dr', 'Una', 'Dahl', 'head', 171);
CREATE VIEW all_trainers AS SELECT id, first_name, last_name, size FROM trainers;
CREATE TABLE lessons (id INTEGER PRIMARY KEY, name TEXT, trainer_id TEXT, level INTEGER);
INSERT INTO lessons VALUES (1, 'Rope', '1', 1), (2, 'Ring', '2', 2), (3, 'Bar', '2', 1), (4, 'Mat', NULL, 2);
CREATE TABLE lessons_level (id INTEGER PRIMARY KEY, label TEXT);
INSERT INTO lessons_level VALUES (1, 'easy'), (2, 'hard');
CREATE TABLE members (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO members VALUES (1, 'Ann'), (2, 'Bea'), (3, 'Cid');
CREATE TABLE bookings (member_id INTEGER, lesson_id INTEGER);
INSERT INTO bookings VALUES (1, 1), (2, 2), (3, 3), (3, 1);
CREATE TABLE visits (id INTEGER PRIMARY KEY, member_id INTEGER, minutes INTEGER);
INSERT INTO visits VALUES (1, 1, 30), (2, 3, 45);
CREATE VIEW booking_costs AS SELECT b.member_id, b.lesson_id, m.name AS payer, 5 * b.lesson_id AS cost
 FROM bookings b JOIN members m ON m.id = b.member_id;
CREATE TABLE gadgets (gadget_id INTEGER, name TEXT, maker TEXT);
INSERT INTO gadgets VALUES (1, 'Rower', 'X'), (2, 'Treadmill', 'Y'), (2, 'Treadmill', 'Z');
"""


def attached(folder: Path, layer: str = "") -> AttachedResult:
    with closing(sqlite3.connect(folder / "gym.db")) as db:
        db.executescript(GYM)
    layers = LayerFiles((LayerFile("gym.yaml", layer),) if layer else ())
    return attach_database(f"sqlite:///{folder}/gym.db", "gym", data=folder / "data", layers=layers)


async def ask(data: Path, question: str) -> Answer:
    composed = compose(Settings(data=data, model=None, qdrant_url=None, embedder="none"))
    events = [event async for event in stream_turn(composed.build(), question, graph="gym")]
    composed.library.close()
    answer: Answer = events[-1][1]
    return answer


@pytest.fixture(scope="module")
def gym(tmp_path_factory: pytest.TempPathFactory) -> tuple[AttachedResult, Path]:
    folder = tmp_path_factory.mktemp("gym")
    return attached(folder), folder / "data"


def links_of(result: AttachedResult) -> dict[str, set[tuple[tuple[str, ...], str]]]:
    return {table.table: {(link.columns, link.target) for link in table.links} for table in result.database.tables}


def test_links_are_guessed_by_names_and_values_of_either_type(gym: tuple[AttachedResult, Path]) -> None:
    links, tables = links_of(gym[0]), {table.table: table for table in gym[0].database.tables}
    assert links["lessons"] == {(("trainer_id",), "trainers"), (("level",), "lessons_level")}
    assert links["bookings"] == {(("member_id",), "members"), (("lesson_id",), "lessons")}
    assert tables["bookings"].key == ("member_id", "lesson_id")
    # the link table is no table of members, and a gadget is not part of a gadget
    assert links["visits"] == {(("member_id",), "members")}
    assert links["gadgets"] == set()


def test_people_are_called_by_both_names_and_a_view_has_no_names_of_its_own(
    gym: tuple[AttachedResult, Path],
) -> None:
    tables = {table.table: table for table in gym[0].database.tables}
    assert tables["trainers"].label == tables["all_trainers"].label == ("first_name", "last_name")
    assert {p.iri: p.role for p in gym[0].schema.predicates}["urn:nacre:db:trainers#title"] == "fact"
    folder = next((gym[1] / "gym" / "versions").iterdir())
    with closing(sqlite3.connect(folder / "lexicon.sqlite")) as db:
        query = "SELECT t.target FROM name n JOIN thing t ON t.n = n.thing WHERE n.tokens LIKE '%holm%'"
        named = {target for (target,) in db.execute(query)}
    assert {each for each in named if "/" in each} == {"urn:nacre:db:trainers/id=1"}


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("What is the role of Ida Holm?", ["head"]),
        ("What is the size of Per Lund?", [182]),
        ("Which lessons does Per Lund have?", ["Bar", "Ring"]),
        ("Which lessons are easy?", ["Bar", "Rope"]),
        ("How many lessons does Per Lund have?", [2]),
        ("Which member has the most bookings?", ["Cid"]),
        ("What is the average cost of the booking costs?", [8.75]),
    ],
)
async def test_questions_are_answered(gym: tuple[AttachedResult, Path], question: str, values: list[object]) -> None:
    answer = await ask(gym[1], question)
    assert sorted(map(str, answer["values"])) == sorted(map(str, values)), answer["answer"]


async def test_a_view_that_repeats_tables_is_asked_for_by_its_name(gym: tuple[AttachedResult, Path]) -> None:
    hidden = {each.label for each in gym[0].schema.classes if each.hidden}
    assert hidden == {"all trainers", "booking costs"}
    assert not [link for table in gym[0].database.tables for link in table.links if link.target == "booking_costs"]
    answer = await ask(gym[1], "Which member has the most bookings?")
    assert "cost" not in answer["answer"], answer["answer"]


def test_a_layer_declares_names_keys_links_and_hidden_tables(tmp_path: Path) -> None:
    layer = """
tables:
  trainers: {names: [last_name, title]}
  all_trainers: {hidden: true}
  lessons: {links: {level: none}}
  gadgets: {key: [gadget_id, maker], links: {gadget_id: members}}
  visits: {names: [nothing]}
"""
    result = attached(tmp_path, layer)
    tables = {table.table: table for table in result.database.tables}
    assert tables["trainers"].label == ("last_name", "title")
    assert "all_trainers" not in tables
    assert links_of(result)["lessons"] == {(("trainer_id",), "trainers")}
    assert tables["gadgets"].key == ("gadget_id", "maker")
    assert links_of(result)["gadgets"] == {(("gadget_id",), "members")}
    problems = "\n".join(result.problems)
    assert "all_trainers is left out: a layer hides it (gym.yaml:4:3)" in problems
    assert "gym.yaml:7:3: visits has no column 'nothing'" in problems


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        # the members with bookings are counted once for each of them
        ("SELECT SUM(v.minutes) FROM visits v JOIN bookings b ON b.member_id = v.member_id", None),
        ("SELECT AVG(minutes) FROM visits, bookings WHERE bookings.member_id = visits.member_id", None),
        (
            "SELECT m.name, SUM(v.minutes), COUNT(DISTINCT b.id) FROM members m LEFT JOIN visits v "
            "ON v.member_id = m.id LEFT JOIN bookings b ON b.member_id = m.id GROUP BY m.id",
            None,
        ),
        (
            "SELECT m.name, AVG(v.minutes), AVG(b.lesson_id) FROM members m LEFT JOIN visits v ON v.member_id = m.id "
            "LEFT JOIN bookings b ON b.member_id = m.id GROUP BY m.id",
            None,
        ),
        ("SELECT SUM(minutes) FROM visits WHERE member_id IN (SELECT member_id FROM bookings)", [(75,)]),
        ("SELECT m.name, SUM(v.minutes) FROM members m JOIN visits v ON v.member_id = m.id GROUP BY m.id ORDER BY 1",
         [("Ann", 30), ("Cid", 45)]),
        ("SELECT b.lesson_id, SUM(v.minutes) FROM visits v JOIN bookings b ON b.member_id = v.member_id "
         "WHERE v.minutes > 40 GROUP BY 1 ORDER BY 2", [("Rope", 45), ("Bar", 45)]),
    ],
)  # fmt: skip
def test_a_measure_that_a_join_multiplies_is_sent_back_with_the_reason(
    gym: tuple[AttachedResult, Path], sql: str, rows: list[tuple[object, ...]] | None
) -> None:
    library = Library(gym[1], None)
    with library.open("gym") as graph:
        found = run_model_sql(sql, graph.tables, round=1, numbers=frozenset({40.0}))
    library.close()
    if rows is None:
        assert found.error is not None
        assert found.error.kind == "multiplied"
        assert "counts a row of visits once for each row of bookings" in found.error.message
    else:
        assert found.error is None
        assert sorted(map(str, found.rows[0].table.rows)) == sorted(map(str, rows))


def test_a_key_of_a_layer_that_several_rows_share_is_a_warning(tmp_path: Path) -> None:
    found = attached(tmp_path, "tables: {gadgets: {key: [gadget_id]}, visits: {key: [member_id]}}")
    shared = [problem for problem in found.problems if "share one" in problem]
    assert len(shared) == 1
    assert shared[0].endswith("several rows of gadgets share one gadget_id, so some are not shown")


def test_a_link_to_a_hidden_or_unknown_table_is_a_warning(tmp_path: Path) -> None:
    hidden = "tables: {visits: {links: {member_id: members}}, members: {hidden: true}}"
    assert any("no table 'members' is shown" in problem for problem in attached(tmp_path, hidden).problems)
    unknown = "tables: {visits: {links: {member_id: rowers}}, boats: {hidden: true}}"
    (tmp_path / "other").mkdir()
    problems = " ".join(attached(tmp_path / "other", unknown).problems)
    assert "no table 'rowers' is shown" in problems
    assert "no table 'boats' is shown" in problems


def test_sql_of_a_model_divides_as_real_numbers(gym: tuple[AttachedResult, Path]) -> None:
    library = Library(gym[1], None)
    shown = "SELECT minutes / 60 / 2, minutes / 60 * 60, CAST(minutes / 60 AS INTEGER) FROM visits WHERE minutes = 45"
    with library.open("gym") as graph:
        of_model = run_model_sql(shown, graph.tables, round=1, numbers=frozenset({60.0, 2.0, 45.0}))
        of_a_person = run_model_sql(shown, graph.tables, round=1)
    library.close()
    assert (of_model.error, of_a_person.error) == (None, None)
    assert of_model.rows[0].table.rows == ((0.375, 0, 0),)
    assert of_a_person.rows[0].table.rows == ((0, 0, 0),)


# an undeclared key of two columns and what refers to it, a link table without words for keys, numbered pages
PRESS = """
CREATE TABLE job (job_no INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE sheet (job_no INTEGER, page INTEGER, paper TEXT, PRIMARY KEY (job_no, page));
CREATE TABLE proof (job_no INTEGER, page INTEGER, minutes INTEGER);
CREATE TABLE printer (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE ink (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE filling (printer INTEGER, ink INTEGER);
CREATE TABLE reprint (job_no INTEGER, line_no INTEGER, copies INTEGER);
INSERT INTO job VALUES (1, 'Atlas'), (2, 'Bible');
INSERT INTO sheet VALUES (1, 1, 'matte'), (1, 2, 'gloss'), (2, 1, 'matte');
INSERT INTO proof VALUES (1, 1, 5), (1, 1, 7), (1, 2, 20), (2, 1, 8);
INSERT INTO printer VALUES (1, 'Anvil'), (2, 'Bolt');
INSERT INTO ink VALUES (1, 'cyan'), (2, 'black');
INSERT INTO filling VALUES (1, 1), (1, 2), (2, 2);
INSERT INTO reprint VALUES (1, 1, 10), (1, 2, 10), (2, 1, 30);
"""


@pytest.mark.parametrize("is_refused", [False, True])
def test_keys_of_several_columns_are_guessed_and_refused(is_refused: bool, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "gym.db")) as db:
        db.executescript(PRESS)
    layer = LayerFile(
        "press.yaml", 'tables: {proof: {links: {"job_no, page": none}}, reprint: {key: [line_no, job_no]}}'
    )
    layers = LayerFiles((layer,) if is_refused else ())
    found = attach_database(f"sqlite:///{tmp_path}/gym.db", "gym", data=tmp_path / "data", layers=layers)
    tables = {table.table: table for table in found.database.tables}
    links = {
        (name, link.columns, link.target) for name, table in tables.items() for link in table.links if link.guessed
    }
    assert (("proof", ("job_no", "page"), "sheet") in links) != is_refused
    assert ("filling", ("printer",), "printer") in links
    assert (tables["filling"].key, tables["filling"].guessed) == (("printer", "ink"), True)
    assert tables["reprint"].key == (("line_no", "job_no") if is_refused else ("job_no", "line_no"))
    # the tables of one key are not joined both ways
    assert not any(name == "sheet" and len(columns) > 1 for name, columns, _ in links)


async def test_what_refers_to_a_key_of_several_columns_is_asked_across(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "gym.db")) as db:
        db.executescript(PRESS)
    attach_database(f"sqlite:///{tmp_path}/gym.db", "gym", data=tmp_path / "data")
    assert (await ask(tmp_path / "data", "What is the total minutes of proofs with the paper matte?"))["values"] == [20]


def test_codes_of_another_table_are_links_whatever_their_column_is_called(tmp_path: Path) -> None:
    ports = ["OSL", "BGO", "TRD", "SVG", "BOO"]
    with closing(sqlite3.connect(tmp_path / "gym.db")) as db:
        db.executescript(
            "CREATE TABLE port (code TEXT PRIMARY KEY, name TEXT);"
            "CREATE TABLE grade (grade TEXT PRIMARY KEY, name TEXT);"
            "CREATE TABLE trip (no INTEGER PRIMARY KEY, start TEXT, finish TEXT, class TEXT, captain TEXT);"
            "INSERT INTO grade VALUES ('A', 'best'), ('B', 'good'), ('C', 'fair'), ('D', 'poor');"
        )
        db.executemany("INSERT INTO port VALUES (?, ?)", [(code, f"Port {code}") for code in ports])
        rows = [(i, ports[i % 3], ports[(i + 1) % 5] if i else "GONE", "ABC"[i % 3], f"Cap {i}") for i in range(12)]
        db.executemany("INSERT INTO trip VALUES (?, ?, ?, ?, ?)", rows)
        db.commit()
    found = attach_database(f"sqlite:///{tmp_path}/gym.db", "gym", data=tmp_path / "data")
    (trip,) = (table for table in found.database.tables if table.table == "trip")
    # one value of five is no port, and letters may be the same by chance
    assert [(link.columns, link.target, link.guessed) for link in trip.links] == [(("start",), "port", True)]
    layers = LayerFiles((LayerFile("no.yaml", "tables: {trip: {links: {start: none}}}"),))
    again = attach_database(f"sqlite:///{tmp_path}/gym.db", "gym", data=tmp_path / "data", layers=layers)
    assert not any(table.links for table in again.database.tables)
