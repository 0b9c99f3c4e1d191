"""Run plans: Plan -> SQL or SPARQL -> rows.

Reading order:
    run                the rows of a plan on an engine; ordered columns, times between dates
    selects            variables and edges of a select, two selects merged, values that may be unstated, spellings
    to_sql             selects as SQL, and the triples behind rows
    sql_joins          the tables that a select reads; a statement with its columns
    sparql_engine      run plans on a SPARQL source, and the triples behind rows
    to_sparql          selects as SPARQL
    sparql_vocabulary  what a source states; RDF terms; derived properties
    property_path      property paths, and the triples along them
    triple_patterns    a plan as triples with placeholders
"""
