"""Draft a semantic layer with a model: Facts -> text -> YAML -> entries that give something.

Files in reading order:
    draft_layer.py     the calls: describe, draft, check, repair
    describe_graph.py  the classes of a graph with shapes and samples, as text
    check_draft.py     a drafted text -> entries that hold, and those that fail with the reason
    layer_text.py      entries -> YAML; added to a file that a person edits
"""
