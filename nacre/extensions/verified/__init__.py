"""Verified questions: those that people confirmed are answered the same way again, and help with others.

Reading order:
    offer      the likeliest plan as a reading; features of likeness (weights.json), what rules an offer out
    template   a verified question with the places of its names and numbers; aligned with another question
    look_up    a question understood beside verified ones, with their reading; words that a semantic layer could teach
    checks     what people confirm, and whether it still holds
    entries    what callers may see, confirm, approve, check and remove
    routes     /api/graphs/{graph}/verified
    command    `nacre examples`
"""
