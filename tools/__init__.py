"""The retrieval tools: a query or a text in, evidence out; no agents, no graph of nodes.

Reading order:
    sql                    runs readings of a question over the tables of a graph; names in one language
    sparql                 the engines that run the same plans as SPARQL
    search_passages        the branches `lexical` and `vector`: passages by words and by meaning
    sandbox                runs foreign queries in processes that can be killed
    provenance             the things and triples behind rows
"""
