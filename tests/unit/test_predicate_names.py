"""What columns of a database dump are called, and which of them say yes or no."""

import pytest

from ingestion.induce.names import PredicateRole, readable_labels
from nacre.language.labels import has_boolean_values

SPACE = "http://example.org/v#"
COLUMNS = [
    # its own table, whole, shortened, and with a word that is one of English as well
    ("prod_price", PredicateRole(("product",)), "price"),
    ("product_weight", PredicateRole(("product",)), "weight"),
    ("car_colour", PredicateRole(("carpet",)), "colour"),
    # of two tables it is not one's own
    ("prod_price", PredicateRole(("product", "offer")), "product price"),
    # a name in one word was made by people
    ("productPrice", PredicateRole(("product",)), "product price"),
    # keys
    ("whs_id", PredicateRole(("product",), ("warehouse",)), "warehouse"),
    ("warehouse_no", PredicateRole(("product",), ("warehouse",)), "warehouse"),
    ("head_emp_id", PredicateRole(("office",), ("employee",)), "head"),
    ("authorId", PredicateRole(("book",), ("person",)), "author"),
    # numbers and codes stay what they are where nothing else is left
    ("prod_no", PredicateRole(("product",)), "product number"),
    ("prod_cd", PredicateRole(("product",)), "product code"),
    ("size_cd", PredicateRole(("product",)), "size"),
    ("fax_no", PredicateRole(("office",)), "fax number"),
    # flags
    ("closed_flg", PredicateRole(("office",), (), True), "closed"),
    ("office_open_yn", PredicateRole(("office",), (), True), "open"),
    # what only looks like a table's name, or like a key
    ("part_of", PredicateRole(("part",), ("machine",)), "part of"),
    ("birth_place", PredicateRole(("person",), ("place",)), "birth place"),
    ("CUST_NAME", PredicateRole(("customer",)), "name"),
    ("IS_OPEN", PredicateRole(("office",), (), True), "is open"),
    # order of words
    ("dt_start", PredicateRole(("rota",)), "start date"),
    ("dt_closed", PredicateRole(("office",)), "date closed"),
    ("dt_since", PredicateRole(("member",)), "since"),
    ("sal_yearly", PredicateRole(("member",)), "yearly salary"),
]


@pytest.mark.parametrize(("name", "role", "label"), COLUMNS, ids=[f"{c[0]} of {c[1].owners}" for c in COLUMNS])
def test_a_column_is_called_as_people_say_it(name: str, role: PredicateRole, label: str) -> None:
    found = readable_labels([SPACE + name], {SPACE + name: role})[SPACE + name]
    assert found.label == label


def test_two_columns_of_one_table_are_never_called_alike() -> None:
    role = PredicateRole(("office",))
    names = readable_labels(
        [SPACE + "office_city", SPACE + "city", SPACE + "branch_city"],
        {SPACE + "office_city": role, SPACE + "city": role, SPACE + "branch_city": PredicateRole(("branch",))},
    )
    assert names[SPACE + "office_city"].label == "office city"
    assert names[SPACE + "branch_city"].label == "city"


def test_what_is_written_stays_a_name() -> None:
    iri = SPACE + "mgr_emp_id"
    assert readable_labels([iri], {iri: PredicateRole(("shop",), ("employee",))})[iri].others == (
        "mgr emp id",
        "manager employee id",
    )


@pytest.mark.parametrize(
    ("values", "name", "yes"),
    [
        (("Y", "N"), "active", True),
        (("yes", "no"), "has_lift", True),
        (("T", "F"), "won", True),
        (("Y",), "active", False),
        (("false",), "open", True),
        (("Y",), "active_flg", True),
        (("0", "1"), "children", False),
        (("0", "1"), "retired_ind", True),
        (("F", "M"), "sex", False),
        (("Y", "N", "?"), "active_flg", False),
        ((), "active_flg", False),
    ],
)
def test_yes_or_no(values: tuple[str, ...], name: str, yes: bool) -> None:
    assert has_boolean_values(values, name) is yes
