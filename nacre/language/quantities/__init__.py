"""Numbers with units in text.

- quantity: the numbers of a question, in digits or words -> Quantity
- amounts: the numbers of any text, with the precision in which they are written -> Amount
- units: conversion of units, and units of thousands or millions
"""
