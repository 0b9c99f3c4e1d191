"""The retrieval tools: a query or a text in, evidence out; no agents, no graph of nodes.

In reading order:

sql                    runs readings of a question over the tables of a graph
sparql                 the engines that run the same plans as SPARQL
passages               contract of the two branches over passages
lexical, vector        passages by words and by meaning
triples                single triples about the things that a question names
run_model_sql          runs a SELECT that a model wrote: guard, repair, provenance
run_model_sparql       the same for SPARQL
model_triple_patterns  the triples that a model's query asks for
guards                 what lets one reading query through and nothing else
repair                 corrections of queries that failed or found nothing
provenance             the things and triples behind rows
look_up                values, sample rows and names, shown before a query is written
"""
