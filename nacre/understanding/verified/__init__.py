"""Verified questions: a question + questions that people confirmed -> a further reading with its probability.

Reading order:
    apply      Understanding + verified questions -> Understanding
    offer      the likeliest plan as a reading; features of likeness (weights.json), what rules an offer out
    template   a verified question with the places of its names and numbers; aligned with another question
"""
