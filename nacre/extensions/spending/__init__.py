"""Spending: what chat models may take for a key or person in a day, and what they took.

In reading order:
    limits   NACRE_DAY_TOKENS and NACRE_DAY_COST -> a caller may ask, or not before the next day
    command  `nacre spending`
"""
