"""Verified questions: a question + questions that people confirmed -> a further reading with its probability.

Reading order:
    slots          the names and numbers of a plan, and the plan with others in their place
    template       a verified question with the places of its names and numbers
    align          a template and a question -> the plan for the names of the question
    likeness       features of how like the question is
    contradictions what rules an offer out
    offer          the likeliest plan as a reading among the others; weights.json has the weights of the features
    apply          Understanding + verified questions -> Understanding
    graph_shift    how much easier or harder the questions of one graph are
    proposals      words of verified questions that a semantic layer could teach
"""
