"""Examples of functions on plans."""

from nacre.plans.property_path import parse_path, write_path
from nacre.plans.selects import asked_select, branches, free_name, named_variables
from nacre.plans.sparql_engine import last_segment
from nacre.plans.sparql_vocabulary import BLANK_PREFIX, XSD, Prefixes, cell_value
from nacre.plans.sql_joins import SqlText, join_sql
from nacre.plans.triple_patterns import QuestionTriples, is_placeholder, validator_assertions
from nacre.records.plan import Ask, Edge, Select, Variable
from nacre.stores.sparql_source import SparqlTerm


def test_write_path() -> None:
    assert (
        write_path(parse_path("^<http://e/a>/(<http://e/b>|<http://e/c>)+"))
        == "^<http://e/a>/(<http://e/b>|<http://e/c>)+"
    )


def test_asked_select() -> None:
    assert asked_select(Ask(Select((), ()))) == asked_select(Select((), ()))


def test_named_variables() -> None:
    assert named_variables(Select((), (Variable("a"), Variable("b", keys=("http://e.org/b",)))))[0].name == "b"


def test_free_name() -> None:
    assert free_name("piece", {"piece"}) == "piece_2"


def test_last_segment() -> None:
    assert last_segment("http://example.org/Deep_Purple") == "Deep_Purple"


def test_cell_value() -> None:
    assert cell_value(SparqlTerm("literal", "5", XSD + "integer")) == 5
    assert cell_value(SparqlTerm("iri", BLANK_PREFIX + "b1")) == "_:b1"
    assert cell_value(SparqlTerm("literal", "five", XSD + "integer")) == "five"


def test_prefixes_short() -> None:
    assert Prefixes({"http://x.org/v#": "v"}).short("http://x.org/v#City") == "v:City"


def test_validator_assertions() -> None:
    none = QuestionTriples((), False, frozenset(), True)
    assert [each["holds"] for each in validator_assertions(none)] == [True, True, False, False]


def test_is_placeholder() -> None:
    assert is_placeholder("?river")
    assert not is_placeholder("Texas")


def test_branches() -> None:
    edges = Edge("order", "of", "buyer"), Edge("ticket", "of", "buyer"), Edge("line", "of", "order")
    found = branches(Select((), tuple(map(Variable, ("buyer", "order", "ticket", "line"))), edges), "buyer")
    assert [sorted(each) for each in found] == [["line", "order"], ["ticket"]]


def test_prefixes_shorten() -> None:
    assert Prefixes({"http://x.org/v#": "v"}).shorten("<http://x.org/v#a>/<urn:b>") == "v:a/<urn:b>"


def test_join_sql() -> None:
    assert join_sql(" AND ", [SqlText("a = ?", (1,)), SqlText("b"), SqlText("c = ?", (2,))]) == SqlText(
        text="a = ? AND b AND c = ?", params=(1, 2)
    )
