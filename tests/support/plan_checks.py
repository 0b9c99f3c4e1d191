"""What holds for every plan: its JSON form, its SQL and its words."""

import json
import re
from functools import lru_cache

import sqlglot
from sqlglot import exp

from nacre.plans.sql_joins import Statement
from nacre.plans.to_sql import to_sql
from nacre.records.json_form import from_json, to_json
from nacre.records.plan import Attribute, Combine, Plan, Select, aggregated_value
from nacre.records.schema import Schema
from nacre.wording.plan_phrases import verbalise_plan

WRITING = (exp.Insert, exp.Update, exp.Delete, exp.Create, exp.Drop, exp.Command, exp.Pragma, exp.Attach)


def json_form_holds(plan: Plan) -> None:
    """A plan written as JSON text and read again is the same plan."""
    assert from_json(Plan, json.loads(json.dumps(to_json(plan)))) == plan


@lru_cache(64)
def parsed_query(text: str) -> exp.Query:
    """The only statement of a text, a query; not to be changed."""
    (query,) = sqlglot.parse(text, dialect="sqlite")
    assert isinstance(query, exp.Query)
    return query


def only_reads(body: Select | Combine, schema: Schema) -> Statement:
    """The SQL is one query that writes nothing, with each constant bound, and no text and no number of its own but
    the places of an order, the halves of a median, where the day of any year stands in a date, and the quarters of
    months.
    """
    statement = to_sql(body, schema)
    query = parsed_query(statement.text)
    assert not list(query.find_all(*WRITING))
    assert len(list(query.find_all(exp.Placeholder))) == len(statement.params)
    allowed = ({"2"} if "'median'" in repr(body) else set()) | ({"5", "6"} if "'yearday'" in repr(body) else set())
    allowed |= {"", "-Q", "2", "3", "4", "6"} if "'quarter'" in repr(body) else set()
    assert {e.this for e in query.find_all(exp.Literal)} <= _places(body) | allowed
    return statement


def words_are_plain(plan: Plan, schema: Schema) -> None:
    """The words of a plan name no table, no column and no IRI."""
    words = verbalise_plan(plan, schema)
    columns = [c for r in schema.relations for c in r.columns]
    names = {n for c in columns for n in (c.value, c.link, c.text, c.low, c.high)} | {r.name for r in schema.relations}
    technical = {n for n in names if "_" in n}
    assert words
    assert "://" not in words, words
    assert not technical & set(re.findall(r"[a-z_0-9]+", words)), words


def _places(body: Select | Combine) -> set[str]:
    if isinstance(body, Combine):
        return _places(body.left) | _places(body.right)
    inner = [f.right for f in body.filters if isinstance(f.right, Select)]
    own = {"0", "1", str(body.offset), str(body.offset + (body.limit or 0))}
    # a year is four characters of a date, a month is seven
    terms = (
        *body.by,
        *map(aggregated_value, body.answers),
        *((aggregated_value(body.order.by),) if body.order else ()),
    )
    parts = {term.part for term in terms if isinstance(term, Attribute)}
    own |= {number for part, number in (("year", "4"), ("month", "7")) if part in parts}
    return own.union(*(_places(select) for select in inner))
