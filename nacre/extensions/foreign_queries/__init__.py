"""Queries that a model or a person wrote: guarded, repaired, run over a graph and traced to its triples.

In reading order:
    run_model_sql          runs a SELECT: guard, repair, provenance, names of columns
    sql_guard              lets one reading SQL statement through and nothing else; repairs it
    model_sparql           guards and runs SPARQL; the triples behind it
    origins                whether the values that a query shows are stored ones
    sql_origins            where the values of a SELECT come from
    sparql_origins         where those of SPARQL come from
    model_triple_patterns  the triples that a query asks for
"""
