"""Queries over the relations of the database of beekeepers whose functions differ between dialects, and their rows,
which are the same on each engine."""

from collections.abc import Sequence

Rows = list[tuple[object, ...]]

DIALECT_CASES: dict[str, tuple[str, Rows]] = {
    "year of a date": (
        "SELECT CAST(substr(member_since, 1, 4) AS INTEGER) FROM bee_keeper ORDER BY 1",
        [(2011,), (2019,)],
    ),
    "date": ("SELECT member_since FROM bee_keeper WHERE member_since < '2012-01-01'", [("2011-04-02",)]),
    "date and time": (
        "SELECT name, checked_at FROM hive WHERE checked_at > '2024-05-01T12:00:00'",
        [("Old Oak", "2024-05-02T10:00:00")],
    ),
    "latest date": ("SELECT max(checked_at) FROM hive", [("2024-05-02T10:00:00",)]),
    "match of any case": ("SELECT name FROM hive WHERE name LIKE 'NORTH%'", [("Northwind",)]),
    "match with an escape": ("SELECT count(*) FROM hive WHERE name LIKE '%\\_%' ESCAPE '\\'", [(0,)]),
    "equality of any case": ("SELECT name FROM hive WHERE name = 'rooftop' COLLATE NOCASE", [("Rooftop",)]),
    "equality of the same case": ("SELECT count(*) FROM hive WHERE name = 'rooftop'", [(0,)]),
    "one of several of any case": (
        "SELECT name FROM hive WHERE name COLLATE NOCASE IN ('ROOFTOP', 'x')",
        [("Rooftop",)],
    ),
    "place in a text": ("SELECT instr(lower(name), 'oak') FROM hive WHERE name = 'Old Oak'", [(5,)]),
    "beginning and end of a text": (
        "SELECT substr(name, 1, 3), substr(name, -3), length(name), upper(name) FROM hive WHERE name = 'Old Oak'",
        [("Old", "Oak", 7, "OLD OAK")],
    ),
    "texts after each other": ("SELECT trim(' ' || name || '!') FROM hive WHERE name = 'Rooftop'", [("Rooftop!",)]),
    "boolean as a condition": ("SELECT full_name FROM bee_keeper WHERE active", [("Ada Quill",)]),
    "boolean as a number": ("SELECT full_name FROM bee_keeper WHERE active = 0", [("Bo O'Hara",)]),
    "sum of booleans": ("SELECT sum(active), max(active) FROM bee_keeper", [(1, 1)]),
    "sum of a comparison": ("SELECT sum(colour = 'blue'), sum(checked_at IS NULL) FROM hive", [(2, 1)]),
    "a comparison as a value": ("SELECT weight > 30 FROM hive ORDER BY weight", [(0,), (1,), (1,)]),
    "division of integers": ("SELECT season / 2 FROM harvest WHERE season = 2023 AND honey_kg > 10", [(1011,)]),
    "division of numbers": ("SELECT weight / 2 FROM hive WHERE name = 'Northwind'", [(15.75,)]),
    "division by zero": ("SELECT season / (season - 2022) FROM harvest WHERE season = 2022", [(None,)]),
    "remainder": ("SELECT season % 10 FROM harvest WHERE season = 2022", [(2,)]),
    "average of integers": ("SELECT avg(season) FROM harvest", [(2022 + 2 / 3,)]),
    "average of decimals": ("SELECT avg(yearly_fee) FROM bee_keeper", [(9.875,)]),
    "rounding": ("SELECT round(avg(honey_kg), 1), round(max(honey_kg)) FROM harvest", [(13.9, 20)]),
    "limit": ("SELECT name FROM hive ORDER BY weight LIMIT 1 OFFSET 1", [("Northwind",)]),
    "a case": (
        "SELECT CASE WHEN weight > 30 THEN 'heavy' ELSE 'light' END AS c, count(*) FROM hive GROUP BY 1 ORDER BY 1",
        [("heavy", 2), ("light", 1)],
    ),
    "missing values first": (
        "SELECT name FROM hive ORDER BY checked_at, name",
        [("Rooftop",), ("Northwind",), ("Old Oak",)],
    ),
    "missing values last": (
        "SELECT name FROM hive ORDER BY checked_at DESC",
        [("Old Oak",), ("Northwind",), ("Rooftop",)],
    ),
    "a value beside a group": (
        "SELECT g, n, count(*) FROM (SELECT keeper_id AS g, colour AS n FROM hive WHERE colour = 'blue') "
        "GROUP BY g ORDER BY n, g",
        [
            ("urn:nacre:db:Bee%20Keeper/Keeper%20Id=1", "blue", 1),
            ("urn:nacre:db:Bee%20Keeper/Keeper%20Id=2", "blue", 1),
        ],
    ),
    "a condition of an aggregate": ("SELECT count(*) FILTER (WHERE season = 2023) FROM harvest", [(2,)]),
    "a condition that is a number": ("SELECT count(*) FROM hive WHERE 1 AND NOT 0", [(3,)]),
    "numbers of rows": (
        "SELECT name, row_number() OVER (PARTITION BY colour ORDER BY weight) FROM hive ORDER BY name",
        [("Northwind", 1), ("Old Oak", 1), ("Rooftop", 2)],
    ),
    "sets": ("SELECT colour FROM hive EXCEPT SELECT 'white'", [("blue",)]),
}


def same_rows(found: Sequence[tuple[object, ...]], expected: Rows) -> bool:
    """Whether rows are equal; numbers nearly so."""
    return len(found) == len(expected) and all(
        len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
        for a, b in zip(found, expected, strict=True)
    )


def _same(one: object, other: object) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) < 1e-9
    return one == other
