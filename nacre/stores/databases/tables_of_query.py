"""What the tables in a query name: a table of the graph, or a part of the query itself (CTE)."""

from collections.abc import Container, Iterator

from sqlglot import exp

from nacre.errors import ToolError


def refuse_other_tables(tree: exp.Expr, known: Container[str]) -> None:
    """Raise ToolError `unknown_name` for a table that is not of the graph; the database may have one of this name."""
    for table in tree.find_all(exp.Table):
        if table.name not in known and cte_of(table) is None:
            raise ToolError("unknown_name", f"No such table: {table.name[:80]}.")


def cte_of(table: exp.Table) -> exp.CTE | None:
    """The CTE that a table names: one that a query around it defines before, or the recursive one that it is in."""
    node: exp.Expr | None = table
    inside: exp.Expr | None = None
    while node is not None:
        if isinstance(node, exp.CTE):
            inside = node
        clause = node.args.get("with_") or node.args.get("with")
        for each in clause.expressions if clause is not None else ():
            # in a CTE that is not recursive, its own name and those after it are tables of the database
            if each is inside and not (clause and clause.args.get("recursive")):
                break
            if each.alias == table.name:
                found: exp.CTE = each
                return found
        node = node.parent
    return None


def own_sources(select: exp.Select) -> Iterator[exp.Expr]:
    """The tables and subqueries that a SELECT reads."""
    clause = select.args.get("from_") or select.args.get("from")
    for part in ([clause] if clause else []) + list(select.args.get("joins") or []):
        source = part.this
        while isinstance(source, exp.Paren):
            source = source.this
        yield source


def source_of(column: exp.Column) -> exp.Expr | None:
    """The table, subquery or CTE that a column belongs to: of the nearest SELECT around it that has this alias."""
    select = column.find_ancestor(exp.Select)
    while select is not None:
        for source in own_sources(select):
            if source.alias_or_name == column.table:
                return cte_of(source) or source if isinstance(source, exp.Table) else source
        select = select.find_ancestor(exp.Select)
    return None
