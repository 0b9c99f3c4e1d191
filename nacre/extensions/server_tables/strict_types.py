"""What SQLite takes and PostgreSQL does not, because each value there has one type: qualified tree -> tree.

SQLite compares numbers with texts, reads a number at the beginning of a text, and takes a number for a condition and
any column beside an aggregate. The tree that is returned says the same with casts.
"""

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from nacre.extensions.databases.attached import Kind
from nacre.extensions.databases.dialects import (
    NUMBERS,
    TYPES,
    Columns,
    ValueKind,
    choices,
    kind_of,
    output_position,
    outputs,
    own_sources,
    selects_of,
    source_of,
)

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)

_OF_TEXT = (exp.Lower, exp.Upper, exp.Trim, exp.Substring, exp.Length, exp.StrPosition, exp.Like)

_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)

# the number that a text begins with; longer ones would not fit
_WHOLE, _REAL = r"^\s*([-+]?[0-9]{1,18})", r"^\s*([-+]?[0-9]{1,300}(\.[0-9]{1,300})?([eE][-+]?[0-9]{1,2})?)"


def with_strict_types(tree: exp.Expr, by_table: Mapping[str, Mapping[str, Kind]]) -> exp.Expr:
    """The tree with a type for each value; `by_table` has the kinds of the columns of all tables. Raises ToolError
    `too_large` for a query whose types take too long to find."""
    columns = Columns(by_table)
    _type_nulls(tree, columns)
    for query in list(tree.find_all(exp.SetOperation)):
        _align_outputs(query, columns)
    # inner expressions first, since the kind of an outer one follows from them
    for node in reversed(list(tree.walk())):
        for rule in _RULES:
            rule(node, columns)
    for select in list(tree.find_all(exp.Select)):
        _aggregate_bare_columns(select)
    # SQLite gives groups in their order
    group = tree.args.get("group") if isinstance(tree, exp.Select) else None
    if group is not None and not tree.args.get("order") and not tree.args.get("distinct"):
        keys = [exp.Ordered(this=each.copy(), desc=False, nulls_first=True) for each in group.expressions]
        tree.set("order", exp.Order(expressions=keys))
    return tree


def _type_nulls(tree: exp.Expr, columns: Columns) -> None:
    """Give NULL in the columns of subqueries the type of what it is combined or compared with."""
    if tree.find(exp.Null) is None:
        return
    for query in list(tree.find_all(exp.SetOperation)):
        for at in range(len(query.selects)):
            kinds = [kind_of(each, columns) for each in outputs(query, at)]
            known = next((kind for kind in kinds if kind in TYPES), None)
            if known is not None and "null" in kinds:
                _set_kind(query, at, known, columns)
    for node in list(tree.find_all(*_COMPARISONS, exp.Between, exp.In)):
        for own, other in _compared(node):
            known = kind_of(other, columns)
            if isinstance(own, exp.Column) and known is not None and known in TYPES and kind_of(own, columns) == "null":
                _set_column(own, known, columns)


def _compared(node: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]]:
    """The sides of a comparison, each with what it is compared with."""
    if isinstance(node, exp.Between):
        return [(node.this, node.args["low"])]
    if isinstance(node, exp.In):
        return [(node.this, node.expressions[0])] if node.expressions else []
    return [(node.this, node.expression), (node.expression, node.this)]


def _set_kind(query: exp.Expr | None, at: int, kind: ValueKind, columns: Columns) -> None:
    for inner in (each.unalias() for each in outputs(query, at)):
        if isinstance(inner, exp.Null):
            inner.replace(_cast(exp.Null(), kind))
        elif isinstance(inner, exp.Column) and kind_of(inner, columns) == "null":
            _set_column(inner, kind, columns)


def _set_column(column: exp.Column, kind: ValueKind, columns: Columns) -> None:
    source = source_of(column)
    _set_kind(source, output_position(source, column.name), kind, columns)


def _cast(value: exp.Expr, kind: ValueKind) -> exp.Cast:
    named: Kind = kind if kind in ("integer", "real", "number") else "text"
    return exp.Cast(this=value, to=exp.DataType.build(TYPES[named], dialect="postgres"))


def _align_outputs(query: exp.SetOperation, columns: Columns) -> None:
    """Columns that are numbers in one SELECT and texts in another become texts."""
    for at in range(min(len(select.selects) for select in selects_of(query))):
        _align([each.unalias() for each in outputs(query, at)], columns)


def _align(parts: Sequence[exp.Expr], columns: Columns) -> None:
    """Numbers beside texts become texts."""
    kinds = [kind_of(part, columns) for part in parts]
    if "text" in kinds:
        for part, kind in zip(parts, kinds, strict=True):
            if kind in NUMBERS:
                part.replace(_cast(part.copy(), "text"))


def _compare(node: exp.Expr, columns: Columns) -> None:
    if isinstance(node, _COMPARISONS):
        left, right = kind_of(node.this, columns), kind_of(node.expression, columns)
        node.set("expression", _comparable(node.expression, right, left))
        node.set("this", _comparable(node.this, left, kind_of(node.expression, columns)))
    elif isinstance(node, exp.In) and node.expressions:
        kind = kind_of(node.this, columns)
        node.set("expressions", [_comparable(each, kind_of(each, columns), kind) for each in node.expressions])
    elif isinstance(node, exp.Between):
        kind = kind_of(node.this, columns)
        for name in ("low", "high"):
            node.set(name, _comparable(node.args[name], kind_of(node.args[name], columns), kind))


def _comparable(value: exp.Expr, kind: ValueKind | None, other: ValueKind | None) -> exp.Expr:
    """A value as what it is compared with."""
    if kind == "truth" and other in NUMBERS:
        return exp.cast(value, "INT")
    if kind in NUMBERS and other == "text" and isinstance(value, (exp.Literal, exp.Neg)):
        return exp.Literal.string(value.sql())
    if kind in NUMBERS and other == "text":
        return _cast(value, "text")
    if kind == "text" and other in NUMBERS and isinstance(value, exp.Literal):
        number = _number(value.name)
        # a text that is no number is larger than any number
        return exp.Literal.string("Infinity") if number is None else number
    return value


def _number(text: str) -> exp.Expr | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if number != number or number in (float("inf"), float("-inf")):
        return None
    shown = exp.Literal.number(text.strip().lstrip("+-"))
    return exp.Neg(this=shown) if text.strip().startswith("-") else shown


def _take_texts(node: exp.Expr, columns: Columns) -> None:
    """Functions of texts take numbers in SQLite, and those of numbers texts."""
    if isinstance(node, _OF_TEXT):
        if kind_of(node.this, columns) in NUMBERS:
            node.set("this", _cast(node.this, "text"))
        if isinstance(node, exp.Like):
            node.replace(exp.ILike(this=node.this, expression=node.expression))
    elif isinstance(node, (exp.Sum, exp.Avg)):
        kind = kind_of(node.this, columns)
        if kind == "text":
            node.set("this", _leading_number(node.this, "real"))
        elif kind == "truth":
            node.set("this", exp.cast(node.this, "INT"))
    elif isinstance(node, _ARITHMETIC):
        for name in ("this", "expression"):
            kind = kind_of(node.args[name], columns)
            if kind == "text":
                node.set(name, _leading_number(node.args[name], "real"))
            elif kind == "truth":
                node.set(name, exp.cast(exp.Paren(this=node.args[name]), "INT"))
        if isinstance(node, (exp.Div, exp.Mod)) and not (isinstance(node.expression, exp.Literal)):
            node.set("expression", exp.Nullif(this=node.expression, expression=exp.Literal.number(0)))


def _cast_leniently(node: exp.Expr, columns: Columns) -> None:
    """A cast of a text to a number reads the number at its beginning; without one it is 0."""
    if type(node) is not exp.Cast or kind_of(node.this, columns) != "text":
        if type(node) is exp.Cast and node.args["to"].is_type(*exp.DataType.INTEGER_TYPES):
            node.set("to", exp.DataType.build("BIGINT"))
        return
    kind = kind_of(node, columns)
    if kind in ("integer", "real"):
        is_given = exp.Not(this=exp.Is(this=node.this.copy(), expression=exp.Null()))
        zero = exp.Case(ifs=[exp.If(this=is_given, true=exp.Literal.number(0))])
        node.replace(exp.Coalesce(this=_leading_number(node.this, kind), expressions=[zero]))


def _leading_number(value: exp.Expr, kind: ValueKind) -> exp.Expr:
    pattern = exp.Literal.string(_WHOLE if kind == "integer" else _REAL)
    return _cast(exp.Anonymous(this="SUBSTRING", expressions=[value.copy(), pattern]), kind)


def _choose_one_kind(node: exp.Expr, columns: Columns) -> None:
    if isinstance(node, (exp.Coalesce, exp.Case)):
        _align(choices(node), columns)


def fold_letters(tree: exp.Expr) -> None:
    """Change the case of constant texts as SQLite does, which changes ASCII letters only."""
    for node in list(tree.find_all(exp.Lower, exp.Upper)):
        if isinstance(node.this, exp.Literal):
            change = str.lower if isinstance(node, exp.Lower) else str.upper
            node.replace(exp.Literal.string(change_ascii(node.this.name, change)))


def change_ascii(text: str, change: Callable[[str], str]) -> str:
    """A text with its ASCII letters changed."""
    return "".join(change(letter) if letter.isascii() else letter for letter in text)


_RULES: tuple[Callable[[exp.Expr, Columns], None], ...] = (
    _compare,
    _take_texts,
    _choose_one_kind,
    _cast_leniently,
)


def _aggregate_bare_columns(select: exp.Select) -> None:
    """A column beside an aggregate that is not grouped by: SQLite gives it from one row of the group, and beside one
    min() or max() from the row with it."""
    aggregates = [each for each in _own(select, exp.AggFunc) if each.find_ancestor(exp.Window) is None]
    group = select.args.get("group")
    # SQLite refuses HAVING in a query without groups and aggregates, and so does the server
    if group is None and not any(each.find_ancestor(exp.Having) is None for each in aggregates):
        return
    grouped = list(group.expressions) if group is not None else []
    positions = [int(each.name) for each in grouped if isinstance(each, exp.Literal) and each.name.isdigit()]
    grouped += [select.selects[at - 1].unalias() for at in positions if 0 < at <= len(select.selects)]
    kinds, keys = tuple({type(each) for each in grouped}), {each.sql() for each in grouped}
    sources = {source.alias_or_name for source in own_sources(select)}
    extremes = [each for each in aggregates if isinstance(each, (exp.Min, exp.Max))]
    for column in _own(select, exp.Column):
        assert isinstance(column, exp.Column)
        inside = column.find_ancestor(exp.AggFunc, exp.Where, exp.Join, exp.Group, exp.From, exp.Select)
        if column.table not in sources or not isinstance(inside, exp.Select) or column.sql() in keys:
            continue
        parent = column.parent
        while parent is not select and not (isinstance(parent, kinds) and parent.sql() in keys):
            parent = parent.parent if parent is not None else select
        if parent is not select:
            continue
        if len(aggregates) == len(extremes) == 1:
            order = exp.Ordered(this=extremes[0].this.copy(), desc=isinstance(extremes[0], exp.Max), nulls_first=False)
            rows = exp.ArrayAgg(this=exp.Order(this=column.copy(), expressions=[order]))
            column.replace(exp.Bracket(this=exp.Paren(this=rows), expressions=[exp.Literal.number(1)]))
        else:
            column.replace(exp.Min(this=column.copy()))


def _own(select: exp.Select, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The nodes of a kind in the output, HAVING and ORDER BY of a SELECT, those in subqueries included if they refer to
    this SELECT."""
    parts = [*select.selects, *(select.args[name] for name in ("having", "order") if select.args.get(name))]
    found = [node for part in parts for node in part.find_all(kind)]
    return [node for node in found if node.find_ancestor(exp.Select) is select or isinstance(node, exp.Column)]
