"""Queries that a model or a person wrote: guarded, repaired, run over a graph and traced to its triples.

In reading order:
    run_model_sql          runs a SELECT: guard, repair, provenance, names of columns
    sql_guard              lets one reading SQL statement through and nothing else; repairs it
    run_model_sparql       runs SPARQL: guard, repair, labels of things
    sparql_guard           lets one reading SPARQL query through and nothing else
    origins                whether the values that a query shows are stored ones
    sql_origins            where the values of a SELECT come from
    sparql_origins         where those of SPARQL come from
    sparql_provenance      the triples behind SPARQL
    model_triple_patterns  the triples that a query asks for
"""
