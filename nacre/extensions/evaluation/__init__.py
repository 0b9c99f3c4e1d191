"""Measuring answers: files of questions asked, configurations compared, queries of models counted.

In reading order:
    command        `nacre eval`, `nacre compare`, `nacre calibrate`
    questions      a file of questions with their gold answers, asked one at a time
    score          whether an answer is right, how good it is, a table of right answers by kind of question
    measures       configurations compared; how often queries are right, also of questions made of a graph's own data;
                   questions with gold queries; a model alone
"""
