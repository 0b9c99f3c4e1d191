"""What kinds of things are called besides their own names."""

from collections.abc import Iterable

import pytest

from ingestion.index.lexicon import ClassNoun, find_class_nouns
from ingestion.induce.classes import strip_table_affix
from nacre.records.schema import Class, Predicate, Schema

SPACE = "http://example.org/"
MILLS = ("Old Mill", "Lower Mill", "Wharf Mill", "Hilltop Bakery")
WOODS = ("hard wood", "soft wood", "tropical wood")


def _class(name: str, count: int = 4) -> Class:
    return Class(SPACE + name, name, count, name)


def _text(label: str, owner: str, values: tuple[str, ...], count: int = 4, **more: object) -> Predicate:
    known: dict[str, object] = {
        "objects": len(values), "has_literals": True, "has_links": False, "functional": True, "ranges": {}, **more
    }  # fmt: skip
    return Predicate(SPACE + label, label, count, count, domains={SPACE + owner: count}, values=values, **known)  # type: ignore[arg-type]


def _found(
    classes: Iterable[Class], predicates: Iterable[Predicate] = (), names: tuple[str, ...] = ()
) -> tuple[ClassNoun, ...]:
    schema = Schema(tuple(classes), (), tuple(predicates), (), {}, 0, 0)
    return find_class_nouns(schema, lambda _: names)


@pytest.mark.parametrize(
    ("label", "word"),
    [
        ("firm name", "firm"),
        # says which name, not of what
        ("trade name", None),
        # whom one asks for there
        ("author name", None),
        ("firm size", None),
    ],
)
def test_by_the_property_that_names_them(label: str, word: str | None) -> None:
    own = tuple(f"{label} {i}" for i in range(4))
    found = _found([_class("Contractor")], [_text(label, "Contractor", own)])
    assert found == (() if word is None else (ClassNoun(SPACE + "Contractor", word),))


def test_a_property_that_several_share_names_none() -> None:
    assert _found([_class("Contractor")], [_text("firm name", "Contractor", ("Ash", "Birch"))]) == ()


@pytest.mark.parametrize("label", ["category", "wood type", "subject"])
def test_by_the_categories_that_they_are_sorted_into(label: str) -> None:
    found = _found([_class("Product", 9)], [_text(label, "Product", WOODS, 9)])
    assert found == (ClassNoun(SPACE + "Product", "wood"),)


def test_what_a_property_holds_is_no_category() -> None:
    assert _found([_class("Product", 9)], [_text("material", "Product", WOODS, 9)]) == ()
    # the property is called so itself
    regions = ("north region", "south region", "west region")
    assert _found([_class("Product", 9)], [_text("region group region", "Product", regions, 9)]) == ()


def test_by_most_of_their_names_where_a_class_says_little() -> None:
    assert _found([_class("Organization")], names=MILLS) == (ClassNoun(SPACE + "Organization", "mill"),)
    assert _found([_class("Employer")], names=MILLS) == ()
    assert _found([_class("Organization")], names=("Old Mill", "Ash Forge", "Long Barn")) == ()


def test_a_word_that_a_class_has_as_its_name_is_that_class_alone() -> None:
    assert _found([_class("Organization"), _class("Mill")], names=MILLS) == ()


@pytest.mark.parametrize(
    ("table", "name"),
    [("T_SHIPMENT", "shipment"), ("TBL_ORDER_ITEM", "order_item"), ("tblDepot", "Depot"), ("tablet", "tablet"),
     ("Table", "Table"), ("depot_tbl", "depot"), ("periodic_table", "periodic_table")],
)  # fmt: skip
def test_the_mark_of_a_table_is_no_part_of_its_name(table: str, name: str) -> None:
    assert strip_table_affix(table) == name
