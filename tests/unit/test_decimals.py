"""Decimals: sums without the digits of binary fractions, and money with two decimals."""

from nacre.language.values import append_unit, format_value
from nacre.plans.run import build_table
from nacre.plans.sql_joins import OutputColumn, Statement


def test_what_is_computed_has_no_digits_of_binary_fractions() -> None:
    outputs = (
        OutputColumn("dock", "value", "d"),
        OutputColumn("total fee", "number", "d", "£"),
        OutputColumn("x", "value", "d"),
    )
    exact = 51.44930000000001
    table = build_table(Statement("", (), outputs), [("A", 388.90000000000003, exact), ("B", 3, None)], False)
    assert table.rows == (("A", 388.9, exact), ("B", 3, None))
    assert table.columns == ("dock", "total fee", "x")
    assert table.units == ("", "£", "")


def test_money_has_two_decimals_or_none() -> None:
    assert [format_value(each, "£") for each in (21.5, 21, 1388.9, 2.25)] == ["£21.50", "£21", "£1,388.90", "£2.25"]
    assert [append_unit(each, "€") for each in ("3,4", "from 3 to 4", "")] == ["€3,40", "from €3 to €4", ""]
    assert [append_unit("21.5", each) for each in ("EUR", "SEK", "¥", "pound")] == [
        "21.50 EUR", "21.50 SEK", "¥21.50", "21.50 pound"
    ]  # fmt: skip
    assert [append_unit("21.5", each) for each in ("kg", "PSI", "cent", "EUR/kWh", "million USD")] == [
        "21.5 kg", "21.5 PSI", "21.5 cent", "21.5 EUR/kWh", "21.5 million USD"
    ]  # fmt: skip
    averages = [format_value(each, unit, rounded=True) for each, unit in ((56.157, "£"), (56.157, "kg"), (561.57, "£"))]
    assert averages == ["£56.16", "56.2 kg", "£561.57"]
