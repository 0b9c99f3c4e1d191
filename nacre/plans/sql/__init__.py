"""Selects as SQL.

Reading order:
- sql_text: SQL with its parameters
- to_sql: statements of a select
- joins: the tables that a select reads
- relations: tables and columns of things, literals and links
- columns: the columns that show answers
- aggregates, ranking: groups and orders
- provenance: the triples behind rows
"""
