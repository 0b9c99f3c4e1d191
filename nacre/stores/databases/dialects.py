"""What differs between SQL dialects: one function for each, from an expression to an expression."""

from sqlglot import exp

from nacre.stores.databases.attached import Storage

# functions that a query may call, by their classes in sqlglot; all others are refused in every dialect
ALLOWED_FUNCTIONS = (
    exp.Abs, exp.And, exp.Avg, exp.Case, exp.Cast, exp.Coalesce, exp.Collate, exp.Concat,
    exp.Count, exp.DenseRank, exp.Exists,
    exp.If, exp.Length, exp.Lower, exp.Max, exp.Min, exp.Nullif, exp.Or, exp.Rank, exp.Round, exp.RowNumber,
    exp.StrPosition, exp.Substring, exp.Sum, exp.Trim, exp.TryCast, exp.Upper,
)  # fmt: skip

# types that a query may cast to: others name what else a server has, such as the tables behind numbers (regclass)
ALLOWED_TYPES = frozenset({
    *exp.DataType.INTEGER_TYPES, *exp.DataType.REAL_TYPES, *exp.DataType.TEXT_TYPES, exp.DType.BOOLEAN,
    exp.DType.DATE, exp.DType.DATETIME, exp.DType.TIME, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ,
}) - {exp.DType.NAME}  # fmt: skip
# digits of a type of numbers (given)
MAX_TYPE_LENGTH = 1_000

# where it is noted that an expression is a column of integers
INTEGER = "nacre_integer"
_TEXT, _CHAR, _DOUBLE = exp.DType.TEXT, exp.DType.CHAR, exp.DType.DOUBLE
# without backslashes, which MySQL reads as escapes
_NUMBER = "^ *[-+]?[0-9]+([.][0-9]+)? *$"


def text_of(value: exp.Expr, dialect: str) -> exp.Expr:
    """A value as text."""
    return exp.cast(value, _CHAR if dialect == "mysql" else _TEXT)


def concatenate(parts: list[exp.Expr], dialect: str) -> exp.Expr:
    """Texts one after the other; NULL if one of them is NULL."""
    if dialect == "mysql":
        return exp.Anonymous(this="CONCAT", expressions=parts)
    joined = parts[0]
    for part in parts[1:]:
        joined = exp.DPipe(this=joined, expression=part, safe=False)
    return exp.Paren(this=joined) if len(parts) > 1 else joined


def column_value(column: exp.Expr, storage: Storage, dialect: str) -> exp.Expr:
    """A column as the cells of an ingested graph hold it: dates as ISO text, booleans as 1 and 0, decimals as floating
    point numbers."""
    if storage == "integer":
        column.meta[INTEGER] = True
        return column
    if storage == "single" and dialect == "sqlite":
        return column
    if storage == "real":
        return exp.cast(column, _DOUBLE) if dialect != "sqlite" else column
    if storage == "single" and dialect != "sqlite":
        # a float of 32 bits has other digits as one of 64 bits, but the same text
        return exp.cast(text_of(column, dialect), _DOUBLE)
    if storage == "money":
        return exp.cast(exp.cast(column, exp.DType.DECIMAL), _DOUBLE)
    if storage == "boolean":
        return column if dialect == "sqlite" else exp.cast(column, exp.DType.INT)
    if storage == "list":
        return exp.Anonymous(this="ARRAY_TO_STRING", expressions=[column, exp.Literal.string(", ")])
    if storage == "number_text":
        return _number_in_text(column, dialect)
    if storage == "datetime" and dialect == "sqlite":
        form = exp.Literal.string("%Y-%m-%dT%H:%M:%S")
        written = exp.Anonymous(this="STRFTIME", expressions=[form, column])
        return exp.Coalesce(this=written, expressions=[text_of(column.copy(), dialect)])
    if storage in ("date", "datetime", "time") and dialect != "sqlite":
        return _iso_text(column, storage, dialect)
    if dialect == "mysql":
        # its usual collations take upper and lower case for equal
        return exp.Collate(this=exp.cast(column, _CHAR), expression=exp.var("utf8mb4_bin"))
    return column if storage == "text" else text_of(column, dialect)


def _number_in_text(column: exp.Expr, dialect: str) -> exp.Expr:
    # it may be a type of the database that only its texts show to be numbers
    written = column if dialect == "sqlite" else text_of(column, dialect)
    number = exp.cast(written.copy(), exp.DType.FLOAT if dialect == "sqlite" else _DOUBLE)
    if dialect == "duckdb":
        return exp.TryCast(this=written, to=exp.DataType.build("DOUBLE"))
    if dialect == "sqlite":
        # SQLite casts the number that a text begins with
        trimmed = exp.Trim(this=column)
        plain = exp.Anonymous(this="GLOB", expressions=[exp.Literal.string("*[^-+.0-9]*"), trimmed])
        return exp.Case(ifs=[exp.If(this=exp.Not(this=plain), true=number)])
    pattern = exp.Literal.string(_NUMBER)
    if dialect == "mysql":
        # MariaDB has no REGEXP_LIKE
        place = exp.Anonymous(this="REGEXP_INSTR", expressions=[written, pattern])
        return exp.Case(ifs=[exp.If(this=exp.GT(this=place, expression=exp.Literal.number(0)), true=number)])
    return exp.Case(ifs=[exp.If(this=exp.RegexpLike(this=written, expression=pattern), true=number)])


def _iso_text(column: exp.Expr, storage: Storage, dialect: str) -> exp.Expr:
    if dialect == "mysql":
        form = {"date": "%Y-%m-%d", "datetime": "%Y-%m-%dT%H:%i:%s", "time": "%H:%i:%s"}[storage]
        return exp.Anonymous(this="DATE_FORMAT", expressions=[column, exp.Literal.string(form)])
    if dialect == "duckdb":
        form = {"date": "%Y-%m-%d", "datetime": "%Y-%m-%dT%H:%M:%S", "time": ""}[storage]
        if not form:
            return text_of(column, dialect)
        return exp.Anonymous(this="STRFTIME", expressions=[column, exp.Literal.string(form)])
    form = {"date": "YYYY-MM-DD", "datetime": 'YYYY-MM-DD"T"HH24:MI:SS', "time": "HH24:MI:SS"}[storage]
    return exp.Anonymous(this="TO_CHAR", expressions=[column, exp.Literal.string(form)])
