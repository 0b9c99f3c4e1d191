"""Selects as SPARQL.

Reading order:
- vocabulary: what a source states
- query: a query with its columns
- to_sparql: queries of a select
- pattern: the graph pattern of a select
- literal_values: literals as values
- aggregates: computed numbers
- terms: RDF terms in SPARQL
- engine: run plans on a source
- standalone: one query for a whole plan
- provenance: the triples behind rows
- property_path: property paths, and the triples along them
- schema: classes and properties for a writer of SPARQL
"""
