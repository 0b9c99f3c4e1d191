"""Constraints: Candidates + Question -> the readings that are not ruled out.

In reading order: self_reference, answered_cues, preferences (readings that rule out others), requested_class ("which
states"), answer_type ("where", "who"), direction (of links), relative_clauses, mentioned_paths (which path
the question mentions), part_of (a whole includes its parts).
"""
