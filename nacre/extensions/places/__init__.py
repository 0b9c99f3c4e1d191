"""Places of things, and what is near: "nearest to", "within 5 km of" and "how far from".

places    IRIs -> latitude and longitude, also at /api/graphs/{graph}/places; distances
branch    the branch `places`: what a question asks about distances -> things with theirs
"""
