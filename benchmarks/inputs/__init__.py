"""Generated inputs of the benchmarks, the same at every run.

- fleet_graph: a graph of ships at any scale
- wide_graphs: graphs that are large in one dimension only
- hostile_sql: SQL statements that use much time or memory
"""
