"""Examples of functions that check claims."""

from nacre.checking.evidence_index import header_unit


def test_header_unit() -> None:
    assert header_unit("average price in EUR") == "EUR"
    assert header_unit("seconds from 0 to 62 mph") == ""
    assert header_unit("number in stock") == ""
