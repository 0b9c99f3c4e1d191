"""Measuring answers: files of questions asked, configurations compared, queries of models counted.

In reading order:
    command       `nacre eval`, `nacre compare`, `nacre calibrate`
    compare       configurations compared
    translations  questions with gold queries in SPARQL (`nacre eval --text2sparql`)
    alone         a model without Nacre, for comparison (`nacre compare --alone`)
    calibrate     how often the queries of a model are right
    measure_model the same with questions made of a graph's own data, also in the background of a server
"""
