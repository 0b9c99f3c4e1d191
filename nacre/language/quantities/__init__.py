"""Numbers with units in text.

- amounts: the numbers of any text with their units, and the precision in which they are written -> Amount
- quantity: the numbers of a question, in digits or words, by the same reader -> Quantity
- units: conversion of units, and units of thousands or millions
"""
