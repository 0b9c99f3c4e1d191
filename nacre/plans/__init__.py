"""Run plans: Plan -> SQL or SPARQL -> rows.

Reading order:
- run: the rows of a plan on an engine
- statement: a query with its columns
- sql: selects as SQL, and the triples behind rows
- sparql: selects as SPARQL
- inspect_select: variables and edges of a select
- merge: two selects with the same names
- order_column, missing_values, durations: ordered columns, unstated values, times between dates
- translated_names: names of things in one language
- triple_patterns: a plan as triples with placeholders
"""
