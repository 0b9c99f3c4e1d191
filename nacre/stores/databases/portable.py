"""What SQLite takes and other databases do not, written for a dialect: tree -> tree."""

from sqlglot import exp

from nacre.stores.databases.dialects import INTEGER

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like)
_NUMERIC = (exp.Sum, exp.Avg, exp.Min, exp.Max)
_CONDITIONS = (exp.Predicate, exp.Escape, exp.Connector, exp.Not, exp.Boolean, exp.Null)
_TRUTHS = (exp.And, exp.Or, exp.Not, exp.Where, exp.Having)


def make_portable(tree: exp.Expr, dialect: str) -> exp.Expr:
    """The tree for a dialect. The result of a comparison may be a boolean there instead of 1 or 0."""
    tree = tree.transform(_without_case, copy=False)
    if dialect != "sqlite":
        tree = tree.transform(lambda node: _portable(node, dialect), copy=False)
    # in SQLite as well, so that the rows are the same everywhere
    return tree.transform(_one_value_per_group, copy=False)


def _without_case(node: exp.Expr) -> exp.Expr:
    """COLLATE NOCASE as lower() of both sides, which all databases have."""
    if isinstance(node, _COMPARISONS) and any(_is_nocase(side) for side in (node.this, node.expression)):
        node.set("this", exp.Lower(this=_bare(node.this)))
        node.set("expression", exp.Lower(this=_bare(node.expression)))
    elif isinstance(node, exp.In) and _is_nocase(node.this):
        node.set("this", exp.Lower(this=_bare(node.this)))
        node.set("expressions", [exp.Lower(this=each) for each in node.expressions])
    return node


def _is_nocase(node: exp.Expr) -> bool:
    return isinstance(node, exp.Collate) and node.expression.name.upper() == "NOCASE"


def _bare(node: exp.Expr) -> exp.Expr:
    inner: exp.Expr = node.this if _is_nocase(node) else node
    return inner


def _portable(node: exp.Expr, dialect: str) -> exp.Expr:
    if isinstance(node, _TRUTHS):
        for name in ("this", "expression"):
            side = node.args.get(name)
            if isinstance(side, exp.Expr) and not _is_condition(side):
                node.set(name, exp.NEQ(this=side, expression=exp.Literal.number(0)))
    elif isinstance(node, exp.Join):
        on = node.args.get("on")
        if on is not None and node.kind == "CROSS":
            node.set("kind", None)
        if isinstance(on, exp.Literal):
            node.set("on", exp.EQ(this=exp.Literal.number(1), expression=on))
    elif isinstance(node, exp.Filter):
        return _conditional(node)
    elif isinstance(node, exp.Substring):
        return _from_end(node, dialect)
    elif isinstance(node, exp.Is) and not isinstance(node.expression, exp.Null | exp.Boolean):
        # IS compares values in SQLite alone
        return exp.NullSafeEQ(this=node.this, expression=node.expression)
    elif isinstance(node, exp.Like):
        # SQLite's LIKE takes upper and lower case for equal
        node.set("this", exp.Lower(this=node.this))
        node.set("expression", exp.Lower(this=node.expression))
    elif isinstance(node, _NUMERIC) and _is_condition(node.this):
        node.set("this", _as_number(node.this))
    elif isinstance(node, exp.Round) and dialect == "postgres" and node.args.get("decimals") is not None:
        node.set("this", exp.cast(node.this, exp.DType.DECIMAL))
        return exp.cast(node, exp.DType.DOUBLE, copy=False)
    elif isinstance(node, exp.Avg) and dialect != "duckdb":
        # an average of integers has few digits in MySQL
        node.set("this", _as_double(node.this, dialect))
    elif isinstance(node, exp.Div):
        return _division(node)
    elif isinstance(node, exp.DPipe) and dialect == "mysql":
        return exp.Anonymous(this="CONCAT", expressions=list(node.flatten()))
    elif isinstance(node, exp.Cast) and dialect == "duckdb" and not isinstance(node, exp.TryCast):
        return exp.TryCast(this=node.this, to=node.args["to"])
    return node


def _is_condition(node: exp.Expr) -> bool:
    return isinstance(node.unnest() if isinstance(node, exp.Paren) else node, _CONDITIONS)


def _as_number(condition: exp.Expr) -> exp.Expr:
    """A condition as 1, 0 or NULL."""
    one, zero = exp.Literal.number(1), exp.Literal.number(0)
    not_it = exp.Not(this=exp.Paren(this=condition.copy()))
    return exp.Case(ifs=[exp.If(this=condition, true=one), exp.If(this=not_it, true=zero)])


def _division(node: exp.Div) -> exp.Expr:
    """Integers give an integer, and division by zero gives NULL."""
    if _is_integer(node.this) and _is_integer(node.expression):
        divisor = exp.Nullif(this=node.expression, expression=exp.Literal.number(0))
        return exp.IntDiv(this=node.this, expression=divisor)
    node.set("typed", True)
    node.set("safe", True)
    return node


def _is_integer(node: exp.Expr) -> bool:
    if isinstance(node, exp.Paren | exp.Neg):
        return _is_integer(node.this)
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Mod):
        return _is_integer(node.this) and _is_integer(node.expression)
    if isinstance(node, exp.Literal):
        return not node.is_string and str(node.this).isdigit()
    if isinstance(node, exp.Cast):
        return bool(node.to.is_type(*exp.DataType.INTEGER_TYPES))
    return isinstance(node, exp.Count | exp.Length) or bool(node.meta.get(INTEGER))


def _as_double(value: exp.Expr, dialect: str) -> exp.Expr:
    if isinstance(value, exp.Distinct):
        return exp.Distinct(expressions=[_as_double(each, dialect) for each in value.expressions])
    return exp.cast(value, exp.DType.DOUBLE)


def _conditional(node: exp.Filter) -> exp.Expr:
    """`sum(x) FILTER (WHERE c)` as `sum(CASE WHEN c THEN x END)`, since MariaDB has no FILTER."""
    function: exp.Expr = node.this
    condition = node.expression.this
    value = exp.Literal.number(1) if isinstance(function.this, exp.Star) else function.this
    function.set("this", exp.Case(ifs=[exp.If(this=condition, true=value)]))
    return function


def _from_end(node: exp.Substring, dialect: str) -> exp.Expr:
    """`substr(x, -3)` as `right(x, 3)`: a negative start counts from the beginning in PostgreSQL."""
    start = node.args.get("start")
    if dialect == "postgres" and isinstance(start, exp.Neg) and node.args.get("length") is None:
        return exp.Anonymous(this="RIGHT", expressions=[node.this, start.this])
    return node


def _one_value_per_group(node: exp.Expr) -> exp.Expr:
    """A SELECT with GROUP BY, with `min(column)` for each column that it shows, orders or filters by and does not group
    by; any other node as it is.

    SQLite takes the value of any row; other databases refuse such a query. Plans show only columns that have one value
    in each group, so the smallest one is the same.
    """
    if not isinstance(node, exp.Select):
        return node
    group = node.args.get("group")
    if group is None:
        return node
    grouped = {each.sql() for each in group.expressions}
    having, order = node.args.get("having"), node.args.get("order")
    for shown in [*node.selects, *([having.this] if having else []), *(order.expressions if order else [])]:
        _take_one(shown, grouped)
    return node


def _take_one(node: exp.Expr, grouped: set[str]) -> None:
    if isinstance(node, (exp.AggFunc, exp.Window, exp.Query)) or node.sql() in grouped:
        return
    if isinstance(node, exp.Column):
        # a name without a table is one of the SELECT itself
        if node.table:
            node.replace(exp.Min(this=node.copy()))
        return
    for each in list(node.iter_expressions()):
        _take_one(each, grouped)
