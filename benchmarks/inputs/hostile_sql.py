"""Generate SQL statements that use much time or memory: a number and a seed -> SELECTs."""

import random
from collections.abc import Iterator

MAX_DEPTH = 4
ENDLESS_SQL = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
_GROWING = ("replace({0}, 'a', 'aaaaaaaaaa')", "{0} || {0}", "hex({0})", "upper({0})", "quote({0})", "substr({0}, -5)")
_BURNING = (
    "instr({0}, {1} || 'b')",
    "length(replace({0}, 'aab', {1}))",
    "ltrim({0}, 'cba')",
    "rtrim({0}, {1})",
    "{0} LIKE '%a%a%a%a%a%a%a%a%b'",
    "{0} GLOB '*a*a*a*a*a*a*a*a*b'",
    "max({0}, {1})",
    "group_concat({0}, {1})",
    "unicode({0})",
    "round(length({0}) * 1e300 * 1e300)",
)
_TABLES = ("entity", "entity AS x", "(SELECT * FROM entity LIMIT 1000000)", "(VALUES (1), (2), (3))")


def hostile_statements(number: int, seed: int) -> Iterator[str]:
    """Statements by a random grammar, the same for a seed."""
    chance = random.Random(seed)
    makers = (_one_call, _product, _recursion, _doubling, _deep, _wide, _sorted)
    for _ in range(number):
        yield chance.choice(makers)(chance)


def _value(chance: random.Random, depth: int) -> str:
    if depth == 0:
        return chance.choice(("'aaaaaaaaa'", "1", "NULL", "x'6161'", "id", "iri", "random()"))
    return chance.choice(_GROWING).format(_value(chance, depth - 1))


def _call(chance: random.Random) -> str:
    values = [_value(chance, chance.randint(0, MAX_DEPTH + 2)) for _ in range(2)]
    return chance.choice(_BURNING).format(*values)


def _one_call(chance: random.Random) -> str:
    return f"SELECT {_call(chance)} FROM entity"


def _product(chance: random.Random) -> str:
    tables = [f"{chance.choice(('entity', 'entity'))} t{i}" for i in range(chance.randint(3, 70))]
    join = chance.choice((", ", " CROSS JOIN ", " JOIN ", " LEFT JOIN ", " NATURAL JOIN "))
    return f"SELECT {chance.choice(('count(*)', 'max(t0.id)', _call(chance)))} FROM {join.join(tables)}"


def _recursion(chance: random.Random) -> str:
    grown = chance.choice(("x + 1", "x || 'a'", "replace(x, 'a', 'aa')", "x"))
    union = chance.choice(("UNION ALL", "UNION"))
    ask = chance.choice(("max(x)", "count(*)", "x", "group_concat(x)"))
    return f"WITH RECURSIVE n(x) AS (SELECT 'a' {union} SELECT {grown} FROM n) SELECT {ask} FROM n"


def _doubling(chance: random.Random) -> str:
    depth = chance.randint(5, 60)
    steps = [f"c{i} AS (SELECT a.x FROM c{i - 1} a, c{i - 1} b)" for i in range(1, depth + 1)]
    return f"WITH c0 AS (SELECT 1 AS x UNION SELECT 2), {', '.join(steps)} SELECT count(*) FROM c{depth}"


def _deep(chance: random.Random) -> str:
    before, after = chance.choice(
        (
            ("(", ")"),
            ("(SELECT ", ")"),
            ("NOT ", ""),
            ("- ", ""),
            ("abs(", ")"),
            ("CASE WHEN 1 THEN ", " END"),
            ("~", ""),
        )
    )
    times = chance.choice((10, 30, 60, 300, 1500))
    return f"SELECT {before * times}1{after * times}"[:10_000]


def _wide(chance: random.Random) -> str:
    joined = chance.choice((" OR ", " AND ", ", ", " || ", " UNION SELECT ", " INTERSECT SELECT ", " -> "))
    return (
        f"SELECT {joined.join([chance.choice(('1', 'id', _value(chance, 2)))] * chance.randint(50, 900))} FROM entity"
    )


def _sorted(chance: random.Random) -> str:
    table = chance.choice(_TABLES)
    return (
        f"SELECT {_call(chance)}, sum(1) OVER (ORDER BY {_value(chance, 3)}) FROM {table}, entity b, entity c "
        f"GROUP BY {_value(chance, 2)} ORDER BY {_call(chance)} LIMIT -1"
    )
