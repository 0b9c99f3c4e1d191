"""Columns that are shown beside groups and not grouped by: tree -> tree with one value for each group.

SQLite takes the value of any row; other databases refuse such a query. Plans show only columns that have one value in
each group, so the smallest one is the same.
"""

from sqlglot import exp


def one_value_per_group(node: exp.Expr) -> exp.Expr:
    """A SELECT with GROUP BY, with `min(column)` for each column that it shows, orders or filters by and does not group
    by; any other node as it is."""
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
