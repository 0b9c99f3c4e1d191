"""What the processes of pools import and compute before their first work, once for all those that are forked from the
one that imports this."""

from importlib import import_module

from tools.sandbox import _inspect

WORK = (
    "nacre.extensions.databases.connection",
    "nacre.extensions.documents.read_document",
    "nacre.extensions.foreign_queries.run_model_sql",
    "nacre.extensions.layer_patterns.patterns",
    "nacre.extensions.spreadsheets.read_workbook",
    "pyoxigraph",
)
for module in WORK:
    import_module(module)
_inspect("SELECT ?thing { ?thing ?predicate ?object }")
