"""The schema of one graph as nodes and steps: Lexicon -> SchemaGraph.

Reading order:
    nodes            classes, and combinations of classes, as nodes
    steps            links between nodes, with costs and shares
    unions           words that are wider than a class, as nodes
    shortest_paths   the cheapest paths between nodes
    schema_graph     all of these, with the properties of the nodes
"""
