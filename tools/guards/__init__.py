"""Checks of foreign queries: sql_guard and sparql_guard accept one reading query; sandbox runs SQL in its own
process."""
