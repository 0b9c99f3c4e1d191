"""Answers of the rules in the language of a German or French question: the text, its sources and its steps.

Without it, they answer such questions in English.
    turns  drafts, sources and records, from English by the templates of `nacre/language/de` and `fr`
"""
