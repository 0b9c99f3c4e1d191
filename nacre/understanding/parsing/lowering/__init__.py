"""Lowering: Derivation + SchemaGraph -> LoweredPlan, a plan of variables, edges and filters.

In reading order: lower (the steps), joins (the cheapest paths between things), filters (conditions and terms),
deduplicate; then changes of plans: members (aggregates over what belongs to a thing, and the nouns of a union) and
part_of (a whole includes its parts).
"""
