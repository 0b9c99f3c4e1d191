"""The declaration of foreign queries."""

from nacre.extension import Extension

_HOME = "nacre.extensions.foreign_queries"

EXTENSION = Extension(
    "foreign_queries",
    services={
        "numbers": f"{_HOME}.origins:stated_numbers",
        "inspect": f"{_HOME}.model_sparql:inspect_query",
        "guard_sparql": f"{_HOME}.model_sparql:guard_sparql",
        "run_sparql": f"{_HOME}.model_sparql:run_model_sparql",
        "sparql_provenance": f"{_HOME}.model_sparql:model_sparql_provenance",
        "run_sql": f"{_HOME}.run_model_sql:run_model_sql",
        "name_columns": f"{_HOME}.run_model_sql:name_columns",
        "used_tables": f"{_HOME}.run_model_sql:used_tables",
        "query_patterns": f"{_HOME}.model_triple_patterns:query_triple_patterns",
    },
)
