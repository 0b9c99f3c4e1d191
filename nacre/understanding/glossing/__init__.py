"""Glossing: German and French questions and labels in English words, so that the rules for English read them.

Reading order:
    question_language   the language of a question, by its function words and by the labels of the graph
    glossed_lexicon     a lexicon whose classes and properties also have English names
    gloss_question      a question in English words and the names of things
"""
