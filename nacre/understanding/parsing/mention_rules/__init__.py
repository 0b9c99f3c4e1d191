"""Rules for mentions, what words may name: ParseState + Link -> ParseStates.

In reading order: class_mentions, subclasses, property_mentions, target_columns (a property as a column),
entities_and_values, categories (things that sort others), booleans, participles.
"""
