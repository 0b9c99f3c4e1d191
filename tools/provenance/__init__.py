"""The things and triples behind rows.

In reading order:

row_provenance        key columns and counts for a query of a model
entity_ids            internal ids in cells
trace_sources         the triples that evidence of an ingested graph rests on
trace_remote_sources  the same of an attached graph
model_sparql          a CONSTRUCT of the triples behind a model's SPARQL
"""
