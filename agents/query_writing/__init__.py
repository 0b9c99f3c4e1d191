"""Queries written by a model.

In reading order:

write_queries  the exchange: query, look-up, feedback
query_prompt   the messages of the exchange
schema_text    the part of the schema that they show
linked_names   the names and values that they show
doubts         what speaks against the rows of a query
rewording      a small model words the question, the rules read it
"""
