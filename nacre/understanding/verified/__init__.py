"""Verified questions: a question + questions that people confirmed -> a further reading with its probability.

Reading order:
    apply      Understanding + verified questions -> Understanding; words that a semantic layer could teach
    offer      the likeliest plan as a reading; features of likeness (weights.json), what rules an offer out
    template   a verified question with the places of its names and numbers; aligned with another question
"""
