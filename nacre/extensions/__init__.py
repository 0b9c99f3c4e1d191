"""What the core does without. Each folder can be deleted; the core finds it by its declaration and never imports it.

databases       graphs attached to relational databases
server_tables   the tables of ingested graphs on a PostgreSQL server
fleet           several servers: shared keys, rates and runs, checkpoints, graphs in an object store
langgraph_api   LangGraph's API at /langgraph
a2a             A2A at /a2a
agui            AG-UI at /agui
pyramid         completion, condensation, waterfall
sharing         shared answers
spreadsheets    CSV, XLSX, ODS, Parquet and JSON Lines as graphs
local_model     a chat model in this process
foreign_queries queries that a model or a person wrote
model_agents    the agents by a chat model
nearest         what is nearest to a question that no rows surely answer
places          distances between places
fact_sentences  facts as sentences, which searches find
suggestions     questions that a graph answers
json_ld         JSON-LD and its contexts
text2sparql     a question as one SPARQL query
layer_patterns  what semantic layers derive, besides names
texts           answers that sentences of documents give
uploads         files or an address become a graph; graphs are deleted
verified        questions that people confirmed
vocabularies    the meaning of OWL, SKOS, Wikibase, nodes of values and relations, lists, named graphs
client          the Python client
"""
