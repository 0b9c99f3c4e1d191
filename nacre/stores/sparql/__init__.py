"""SPARQL sources.

In reading order:
    sparql_source     the interface, and the local triple store of an ingested graph
    deadline_network  connections that end at a deadline
    query_tokens      read a query into tokens and write it in canonical form
"""
