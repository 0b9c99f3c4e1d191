"""The semantic layer: what people call things, and what stands behind several nodes: YAML -> Facts and names.

Files in reading order:
    entries.py        the records of a layer
    yaml_nodes.py     YAML within bounds, with the line and column of each value
    read_layer.py     a file -> Layer, with the layers that it extends
    prefixes.py       short names of namespaces
    expressions.py    SPARQL patterns and paths, written with full IRIs
    paths.py          a property path over the triples -> pairs
    pattern_store.py  SPARQL patterns over the triples, in a process of their own
    resolve.py        the classes and properties of a graph that a layer means
    derive.py         Layer + Facts -> Facts with derived triples
    names.py          the names that a layer gives to classes and properties
    packs.py          the layers of common vocabularies that apply to a graph
    apply.py          packs and files of an ingest -> one layer, applied
"""
