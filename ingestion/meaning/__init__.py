"""The meaning of what is stated: Facts -> Facts with derived triples. Each rule is a function of a Draft.

In reading order:
    derive     the rules in order
    draft      the graph while rules add derived triples and hide read ones, within a budget
    spellings  IRIs in several spellings
    codes      codes, translations, undescribed IRIs and empty texts
"""
