"""Measuring answers: files of questions asked, configurations compared, queries of models counted.

In reading order:
    command        `nacre eval`, `nacre compare`, `nacre calibrate`
    measures       configurations compared; how often queries are right, also of questions made of a graph's own data;
                   questions with gold queries; a model alone
"""
