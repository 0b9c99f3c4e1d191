"""Random input for a time, with a new seed at each run: python -m benchmarks.fuzz.

- run: one property with random input until the time is over
- guard: SPARQL texts of a grammar, read by two parsers
- routes: requests derived from the document of the API (schemathesis)
- readers: answers of SPARQL endpoints and RDF files, in a process of their own
"""
