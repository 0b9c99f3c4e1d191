"""Names for SQL are short, unique and never clash with SQLite's own."""

import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from ingestion.induce.names import SqlIdentifiers, column_name
from ingestion.vocabulary import local_name
from nacre.stores.sqlite.tables import quote_if_needed


@given(st.lists(st.text(max_size=80), min_size=1, max_size=8))
def test_any_names_make_a_table(texts: list[str]) -> None:
    names = SqlIdentifiers(["id"])
    claimed = [names.claim([column_name(text)]) for text in texts]
    assert len({name.lower() for name in claimed}) == len(texts)
    connection = sqlite3.connect(":memory:")
    connection.execute(
        f"CREATE TABLE t (id INTEGER PRIMARY KEY, {', '.join(f'{quote_if_needed(n)} TEXT' for n in claimed)})"
    )
    connection.execute(f"SELECT {', '.join(map(quote_if_needed, claimed))} FROM t")
    connection.close()


def test_names_with_suffixes_do_not_meet() -> None:
    names = SqlIdentifiers()
    assert names.claim(["engine"], ["", "_id"]) == "engine"
    assert names.claim(["engine_id"], [""]) == "engine_id_2"


def test_local_names() -> None:
    assert [local_name(i) for i in ("http://e.org/a#b", "http://e.org/a/", "urn:x:y", "http://e.org", "x")] == [
        "b",
        "a",
        "y",
        "e.org",
        "x",
    ]
