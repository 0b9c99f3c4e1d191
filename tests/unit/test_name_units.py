"""Units that names of properties end in are units; what may be another word stays in the name."""

import pytest

from ingestion.induce.quantities import add_name_units, trailing_unit
from nacre.records.schema import Predicate


@pytest.mark.parametrize(
    ("name", "rest", "unit"),
    [
        ("length M", "length", "m"),
        ("height cm", "height", "cm"),
        ("weight in kg", "weight", "kg"),
        ("price Eur", "price", "EUR"),
        ("top Speed Kmh", "top Speed", "km/h"),
        ("area km2", "area", "km²"),
        ("duration minutes", "duration", "min"),
        ("temperature C", "temperature", "°C"),
    ],
)
def test_units(name: str, rest: str, unit: str) -> None:
    assert trailing_unit(name) == (rest, unit)


@pytest.mark.parametrize(
    "name", ["group M", "temperature min", "price per kg", "vitamin C", "kg", "x cm", "opening hours"]
)
def test_words_that_are_no_units(name: str) -> None:
    assert trailing_unit(name) == (name, "")


def _of(name: str, label: str, **more: object) -> Predicate:
    return Predicate(f"http://ex.org/{name}", label, 2, 2, 2, True, False, True, {}, {}, **{"datatype": "real", **more})  # type: ignore[arg-type]


def test_labels() -> None:
    found = add_name_units(
        [
            _of("lengthM", "length m"),
            _of("height_cm", "height cm"),
            _of("height_m", "height m"),
            _of("engine_kw", "engine kw"),
            _of("humidity", "Humidity (%)"),
            _of("depthM", "Depth below the keel"),
            _of("noteCm", "note cm", datatype="text"),
        ],
        ["Boat", "Engine"],
    )
    assert [(p.label, p.unit) for p in found] == [
        ("length", "m"),
        # two of one name, and one called like a class, keep their names
        ("height cm", "cm"),
        ("height m", "m"),
        ("engine kw", "kW"),
        # what people called it stays; brackets are left out where it is said
        ("Humidity (%)", "%"),
        ("Depth below the keel", "m"),
        # no numbers, no unit
        ("note cm", ""),
    ]
