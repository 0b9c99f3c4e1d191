"""What people see of a graph, page by page.

In reading order:

overview      the largest classes and their links
class_view    a class, its properties and members
local_thing   a thing of an ingested graph
remote_thing  a thing of an attached graph
things        a thing by its name or IRI
"""
