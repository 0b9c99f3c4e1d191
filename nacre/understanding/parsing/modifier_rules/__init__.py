"""Rules for modifiers, words that say how things are asked for: ParseState + Cue or Number -> ParseStates.

In reading order: cues (which rule belongs to which kind of cue), ranking_cues, ongoing ("still"), superlatives
and comparisons (what they rank and compare), numbers, number_conditions (the conditions that a number makes,
and what has its unit), dates, ordinals, persons ("who"), exclusive ("only").
"""
