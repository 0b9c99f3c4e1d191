"""Fictional graphs with texts, and questions derived from other questions.

- faculty: an ontology with gaps, prose with the missing facts, and multiple-choice questions
- ferry: a graph of a ferry company, and its documents in four formats
- keywords: the words of a question that are no function words
- rewording_data, reorder, reword: questions in other words, with the same gold answers
- unanswerable: a graph without the facts of some answers, and the questions that it can't answer
- removed_facts: how often a removed fact is missed: such a graph made, asked and counted
"""
