"""What is near to a place: questions with "nearest to", "within 5 km of" and "how far from".

branch    the branch `places`: the distances from a named thing to others
request   what a question asks about distances
"""
