"""Answers in German and French, by templates: plans and rows -> sentences.

Reading order:
    labels      the names of classes and properties in a language
    values      numbers, dates, yes and no as a language writes them
    overview    a graph as a whole
    answer      rows -> a sentence, a list or a table
"""
