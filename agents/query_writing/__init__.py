"""Queries written by a model.

In reading order:

write_queries  the exchange: query, look-up, feedback
query_prompt   the messages of the exchange
schema_text    the part of the schema that they show
linked_names   the names and values that they show
verified_examples verified questions that they show
query_text     a query as a model reads it
doubts         what speaks against the rows of a query
second_opinion which of two candidates is right
verified_rows  the rows of a verified question
rewording      a small model words the question, the rules read it
"""
