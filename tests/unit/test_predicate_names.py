"""What columns of a database dump are called, and which of them say yes or no."""

import pytest

from ingestion.induce.names.predicate_names import Role, spoken_names
from nacre.language.booleans import says_yes_or_no

SPACE = "http://example.org/v#"
COLUMNS = [
    # its own table, whole, shortened, and with a word that is one of English as well
    ("prod_price", Role(("product",)), "price"),
    ("product_weight", Role(("product",)), "weight"),
    ("car_colour", Role(("carpet",)), "colour"),
    # of two tables it is not one's own
    ("prod_price", Role(("product", "offer")), "product price"),
    # a name in one word was made by people
    ("productPrice", Role(("product",)), "product price"),
    # keys
    ("whs_id", Role(("product",), ("warehouse",)), "warehouse"),
    ("warehouse_no", Role(("product",), ("warehouse",)), "warehouse"),
    ("head_emp_id", Role(("office",), ("employee",)), "head"),
    ("authorId", Role(("book",), ("person",)), "author"),
    # numbers and codes stay what they are where nothing else is left
    ("prod_no", Role(("product",)), "product number"),
    ("prod_cd", Role(("product",)), "product code"),
    ("size_cd", Role(("product",)), "size"),
    ("fax_no", Role(("office",)), "fax number"),
    # flags
    ("closed_flg", Role(("office",), (), True), "closed"),
    ("office_open_yn", Role(("office",), (), True), "open"),
    # what only looks like a table's name, or like a key
    ("part_of", Role(("part",), ("machine",)), "part of"),
    ("birth_place", Role(("person",), ("place",)), "birth place"),
    ("CUST_NAME", Role(("customer",)), "name"),
    ("IS_OPEN", Role(("office",), (), True), "is open"),
    # order of words
    ("dt_start", Role(("rota",)), "start date"),
    ("dt_closed", Role(("office",)), "date closed"),
    ("dt_since", Role(("member",)), "since"),
    ("sal_yearly", Role(("member",)), "yearly salary"),
]


@pytest.mark.parametrize(("name", "role", "label"), COLUMNS, ids=[f"{c[0]} of {c[1].owners}" for c in COLUMNS])
def test_a_column_is_called_as_people_say_it(name: str, role: Role, label: str) -> None:
    found = spoken_names([SPACE + name], {SPACE + name: role})[SPACE + name]
    assert found.label == label


def test_two_columns_of_one_table_are_never_called_alike() -> None:
    role = Role(("office",))
    names = spoken_names(
        [SPACE + "office_city", SPACE + "city", SPACE + "branch_city"],
        {SPACE + "office_city": role, SPACE + "city": role, SPACE + "branch_city": Role(("branch",))},
    )
    assert names[SPACE + "office_city"].label == "office city"
    assert names[SPACE + "branch_city"].label == "city"


def test_what_is_written_stays_a_name() -> None:
    iri = SPACE + "mgr_emp_id"
    assert spoken_names([iri], {iri: Role(("shop",), ("employee",))})[iri].others == (
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
        (("Y",), "active_flg", True),
        (("0", "1"), "children", False),
        (("0", "1"), "retired_ind", True),
        (("F", "M"), "sex", False),
        (("Y", "N", "?"), "active_flg", False),
        ((), "active_flg", False),
    ],
)
def test_yes_or_no(values: tuple[str, ...], name: str, yes: bool) -> None:
    assert says_yes_or_no(values, name) is yes
