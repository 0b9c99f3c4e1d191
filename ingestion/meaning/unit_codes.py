"""Codes of units as people write them: "KGM" (UN/CEFACT) or "KiloGM" (QUDT) -> "kg"."""

_SAID = {
    "kg": "KGM KiloGM kilogram KILOGRAM",
    "g": "GRM GM gram",
    "mg": "MGM MilliGM milligram",
    "t": "TNE TONNE tonne",
    "m": "MTR M metre meter",
    "km": "KMT KiloM kilometre kilometer",
    "cm": "CMT CentiM centimetre centimeter",
    "mm": "MMT MilliM millimetre millimeter",
    "in": "INH IN inch",
    "ft": "FOT FT foot",
    "l": "LTR L litre liter",
    "ml": "MLT MilliL millilitre milliliter",
    "m²": "MTK M2 squareMetre",
    "m³": "MTQ M3 cubicMetre",
    "s": "SEC second",
    "min": "MIN minute",
    "h": "HUR HR hour",
    "d": "DAY day",
    "km/h": "KMH KiloM-PER-HR kilometrePerHour",
    "W": "WTT W watt",
    "kW": "KWT KiloW kilowatt",
    "kWh": "KWH KiloW-HR kilowattHour",
    "V": "VLT V volt",
    "A": "AMP A ampere",
    "Hz": "HTZ HZ hertz",
    "°C": "CEL DEG_C degreeCelsius",
    "°F": "FAH DEG_F degreeFahrenheit",
    "%": "P1 PERCENT percent",
}
_OF_CODE = {code: said for said, codes in _SAID.items() for code in codes.split()}
_WITHOUT = frozenset({"C62", "EA", "UNITLESS", "NUM", "one", "H87"})


def unit_symbol(code: str) -> str:
    """The unit as it is written behind a number; an unknown code stays as it is, that of a mere number is "".

    >>> unit_symbol("KGM"), unit_symbol("KiloM-PER-HR"), unit_symbol("bar"), unit_symbol("C62")
    ('kg', 'km/h', 'bar', '')
    """
    return "" if code in _WITHOUT else _OF_CODE.get(code, code)
