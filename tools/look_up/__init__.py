"""What a model may look up before it writes a query: look_up_sql over tables, look_up_sparql over a SPARQL source."""
