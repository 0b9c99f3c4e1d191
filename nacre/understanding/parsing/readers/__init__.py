"""Readers of questions with a form of their own: Question + Links -> Candidates.

In reading order: yes_no, kinds ("is A a B"), keywords, comparison ("is A longer than B"), more_than ("has A more cars
than B"), choice ("which is longer, A or B"), ages, shares (percentages), two_questions ("..., and
what do they cost").
"""
