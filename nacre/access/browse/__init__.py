"""What people see of a graph, page by page.

In reading order:

overview      the largest classes and their links
class_view    a class, its properties and members
table_source  where the values of a class are, and conditions on them
row_order     the members on a page, in order
class_table   a page of a class as a table
class_facet   the values of a property in a class, with counts
local_thing   a thing of an ingested graph
remote_thing  a thing of an attached graph
things        a thing by its name or IRI
"""
