"""Open graphs as agents, people and other programs ask them: databases, things, guarded queries, derivations.

In reading order:

availability         why a branch can't search a graph
text_lexicon         the names to parse a text with
understanding_cache  parsed questions of an open graph
version_leases       versions that turns keep open
sql_database         a graph for agents that write SQL
sparql_database      a graph for agents that write SPARQL
join_texts           questions that need facts and texts
text_coverage        whether texts may answer what rows leave out
nearest              what is nearest to a question that no rows answer
queries              guarded queries of people and other programs
verified             questions that people confirmed
text2sparql          a question as one SPARQL query
write_query          the query of a question, without running it
labels               the labels of IRIs
browse               things and classes as pages show them
citations            the triples behind cited evidence
derivation           how an answer came about
"""
