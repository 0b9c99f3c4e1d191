"""SPARQL sources.

In reading order:
    sparql_source     the interface, and the local triple store of an ingested graph
    endpoint          a remote endpoint over HTTP
    endpoint_answers  read what an endpoint sends, within bounds
    deadline_network  connections that end at a deadline
    query_tokens      read a query into tokens and write it in canonical form
"""
