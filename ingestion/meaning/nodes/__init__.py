"""Rules for nodes that stand between a thing and its values.

Files in reading order:
    value_nodes.py   nodes that only hold a value
    name_nodes.py    nodes that hold a name
    nested_nodes.py  blank nodes behind blank nodes
    parts.py         blank nodes that are parts of a thing
    measurements.py  measurements: the quantity becomes a property
    roles.py         roles: each role becomes a property
"""
