"""/api/text2sparql: a question as one SPARQL query, the interface of a public challenge."""
