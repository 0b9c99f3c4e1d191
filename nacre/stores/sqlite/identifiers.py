"""Quote the name of a table, view or column for SQL: name -> identifier."""


def quote_identifier(name: str) -> str:
    """The name in double quotes.

    >>> quote_identifier('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def quote_if_needed(name: str) -> str:
    """The name as it is if SQLite reads it without quotes, else in double quotes.

    >>> quote_if_needed("height"), quote_if_needed("größe"), quote_if_needed('a"b')
    ('height', '"größe"', '"a""b"')
    """
    return name if name.isascii() and name.isidentifier() else quote_identifier(name)
