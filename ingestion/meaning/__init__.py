"""The meaning of what is stated: Facts -> Facts with derived triples. Each rule is a function of a Draft.

In reading order:
    derive  the rules in order: IRIs in several spellings, codes, translations, undescribed IRIs, empty texts
    draft   the graph while rules add derived triples and hide read ones, within a budget
"""
