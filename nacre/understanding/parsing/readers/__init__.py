"""Readers of questions with a form of their own: Question + Links -> Candidates.

In reading order: yes_no, kinds ("is A a B"), keywords, comparison ("is A longer than B"), choice
("which is longer, A or B"), ages, two_questions ("..., and what do they cost").
"""
