"""Constraints: Candidates + Question -> the readings that are not ruled out.

In reading order: self_reference, computable (sums and averages of numbers), preferences (readings that rule out
others), requested_class ("which states"), answer_type ("where", "who"), direction (of links), mentioned_paths (which
links the question names), own_properties (of a named thing, before those reached over links).
"""
