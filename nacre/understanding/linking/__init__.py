"""Linking: a question -> Links, what its spans may name in one graph (schema linking and entity linking).

Links only collect possibilities with scores. Parsing and ranking decide.

Reading order:
    graph/              the schema as a graph: nodes, steps, shortest paths
    schema/             names of classes and properties -> links
    names/              names of things, values and codes -> links
    index               the linkers of one lexicon, built once a version
    link_mentions       all links of a question, without those that the words around rule out
    linker              what a text names, for dialogue and spelling; links of words with a letter corrected;
                        text -> Question, with the names of the graph in mind
"""
