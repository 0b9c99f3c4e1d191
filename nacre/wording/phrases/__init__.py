"""Plans in words.

Reading order:
- plan: any plan, and the headings of its columns
- select: a select as a noun phrase, and its order
- statements: a select as a statement, and its denial
- question_clauses: what is asked of a property without a noun
- groups: values of groups
- property_names: a property next to its things
- noun_phrase: the things of a select with all conditions on them
- superlatives: the order of a select
- select_structure: what the links of a select mean by the schema
"""
