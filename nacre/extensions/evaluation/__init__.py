"""Measuring answers: files of questions asked, configurations compared, queries of models counted.

In reading order:
    command        `nacre eval`, `nacre compare`, `nacre calibrate`
    measures       configurations compared; how often queries are right; questions with gold queries; a model alone
    measure_model  a model measured with questions made of a graph's own data, also in the background of a server
"""
