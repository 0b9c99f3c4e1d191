"""SPARQL sources.

Files in reading order:
    sparql_source.py     the interface
    oxigraph_store.py    the local triple store of an ingested graph
    endpoint.py          a remote endpoint over HTTP
    deadline_network.py  connections that end at a deadline
    endpoint_answers.py  read what an endpoint sends, within bounds
    bounded_json.py      parse JSON of strangers within bounds
    projection.py        the columns that a SELECT asks for
    endpoint_limits.py   limits and keys of endpoints
    text_search.py       full-text patterns of the dialects
    query_tokens.py      read a query into tokens and write it in canonical form
"""
