"""Columns that are called like another table and hold codes of its rows: links, or codes beside links."""

import sqlite3
from contextlib import closing
from pathlib import Path

from nacre.extensions.databases.attach_database import AttachedResult, attach_database

FERRIES = """
CREATE TABLE harbours (harbour_id INTEGER PRIMARY KEY, name TEXT, short TEXT, town TEXT);
INSERT INTO harbours VALUES (1, 'North Quay', 'NQ', 'Alm'), (2, 'Old Pier', 'OP', 'Alm'), (3, 'Salt Dock', 'SD', 'Bro'),
 (4, 'West Hook', 'WH', 'Cam');
CREATE TABLE companies (company_id INTEGER PRIMARY KEY, name TEXT, letters TEXT);
INSERT INTO companies VALUES (1, 'Blue Line', 'BL'), (2, 'Grey Line', 'GL'), (3, 'Red Line', 'RL');
CREATE TABLE trips (trip_id INTEGER PRIMARY KEY, company TEXT, from_harbour TEXT, from_harbour_id INTEGER, berth TEXT);
INSERT INTO trips VALUES (1, 'BL', 'NQ', 1, 'a'), (2, 'BL', 'SD', 3, 'b'), (3, 'GL', 'OP', 2, 'c'),
 (4, 'RL', 'WH', 4, 'd');
CREATE TABLE notes (note_id INTEGER PRIMARY KEY, company TEXT);
INSERT INTO notes VALUES (1, 'BL'), (2, 'unknown'), (3, 'other'), (4, 'GL');
"""


def attached(folder: Path) -> AttachedResult:
    with closing(sqlite3.connect(folder / "ferries.db")) as db:
        db.executescript(FERRIES)
    return attach_database(f"sqlite:///{folder}/ferries.db", "ferries", data=folder / "data")


def test_codes_of_another_table_are_links_and_those_beside_links_are_called_codes(tmp_path: Path) -> None:
    result = attached(tmp_path)
    links = {
        table.table: {(link.columns, link.target, link.referred) for link in table.links}
        for table in result.database.tables
    }
    by_code = (("company",), "companies", ("letters",))
    assert by_code in links["trips"]
    assert (("from_harbour_id",), "harbours", ("harbour_id",)) in links["trips"]
    assert not any(columns == ("from_harbour",) for columns, _, _ in links["trips"])
    # too few of its values are codes
    assert by_code not in links["notes"]
    labels = {p.iri.rsplit(":", 1)[-1]: p.label for p in result.schema.predicates}
    assert labels["trips#from_harbour"] == "from harbour short"
    assert labels["trips#ref-from_harbour_id"] == "from harbour"
