"""What verified questions are worth, and how likeness to them is learned.

- measure: right answers to other wordings before and after questions are verified
- learn: pairs of questions -> the weights of the features of likeness
"""
