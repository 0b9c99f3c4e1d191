"""Generated inputs of the benchmarks, the same at every run.

- fleet_graph: a graph of ships at any scale
- herbarium: a graph with one large class
- wide_graphs: graphs that are large in one dimension only
- hostile_sql: SQL statements that use much time or memory
- hostile_sparql: SPARQL that tries to leave its graph or to take all time
- hostile_files, hostile_contexts: RDF files and JSON-LD that use much time or memory
- hostile_answers: answers of a hostile SPARQL endpoint
- hostile_loaders: document loaders that return too much or harmful names
- hostile_replies: replies of hostile servers of chat models
- sparql_texts, changed_bytes: SPARQL of a grammar, and content with random damage
"""
