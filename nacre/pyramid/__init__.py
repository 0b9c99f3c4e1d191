"""The arithmetic of the knowledge pyramid (PolyRAG) over arrays and triples.

- gaussian: the distributions of two layers, and where one lacks what the other holds
- medoids: k-medoids clustering
- relations: relations of extracted triples, and which of them mean the same
- proposals: classes and attributes that the triples have and the schema lacks
- sufficiency: the probability that single triples answer a question; its weights are in `sufficiency.json`
"""
