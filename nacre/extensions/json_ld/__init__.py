"""Reading JSON-LD: its contexts, from copies or downloaded, within limits.

In reading order:
    contexts  JSON-LD without references to remote contexts, which are downloaded if that is allowed
"""
