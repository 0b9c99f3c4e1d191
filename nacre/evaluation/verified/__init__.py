"""What verified questions are worth, and how likeness to them is learned.

- measure: right answers to other wordings before and after questions are verified
- calibration: what they do to the probabilities of their graph
- learn: pairs of questions -> the weights of the features of likeness
"""
