"""Checks of foreign queries.

In reading order:

sql_guard, sparql_guard      accept one reading query and nothing else
sparql_shape                 what a query in SPARQL asks
sql_origins, sparql_origins  where the values come from that a query shows
origins                      which of them are evidence
sandbox                      runs SQL in its own process
"""
