"""The retrieval tools: a query or a text in, evidence out; no agents, no graph of nodes.

Reading order:
    sql                    runs readings of a question over the tables of a graph; names in one language
    sparql                 the engines that run the same plans as SPARQL; runs SPARQL that a model wrote
    search_passages        the branches `lexical` and `vector`: passages by words and by meaning
    run_model_sql          runs a SELECT that a model wrote: guard, repair, provenance, names of columns
    sql_guard              lets one reading SQL statement through and nothing else; repairs it
    sandbox                guards SPARQL, and runs foreign queries in processes that can be killed
    look_up                values, sample rows and names, shown before a query is written
    provenance             the things and triples behind rows
    model_triple_patterns  the triples that a model's query asks for
"""
