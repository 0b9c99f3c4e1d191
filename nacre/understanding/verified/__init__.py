"""Verified questions: a question + questions that people confirmed -> a further reading with its probability."""
