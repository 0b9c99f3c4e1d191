"""The files of semantic layers: YAML -> Layer.

Files in reading order:
    yaml_nodes.py   YAML within bounds, with the line and column of each value
    read_layer.py   the text of a file -> a layer
    prefixes.py     short names of namespaces (prefixes.yaml)
    expressions.py  SPARQL patterns and paths, written with full IRIs
    json_schema.py  the JSON Schema of the files
    template.py     a schema -> a file to fill in
"""
