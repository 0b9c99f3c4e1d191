"""The semantic layer: what people call things, and what stands behind several nodes: YAML -> Facts and names.

Files in reading order:
    entries.py     the records of a layer
    format/        a file -> a layer
    stored.py      the layers of a version, in its folder
    packs.py       the layers of common vocabularies that apply to a graph
    precedence.py  the names of packs next to a graph's own layer
    resolve.py     the classes and properties of a graph that a layer means
    evaluate/      the triples that a layer derives
    names.py       the names that a layer gives to classes and properties
    apply.py       packs and files of an ingest -> one layer, applied
    check.py       what each entry of a layer gives in a graph, and what is wrong
    edit_names.py  other names that people give on the page
    from_texts.py  the layer of what texts state
    drafting/      a layer drafted by a model
"""
