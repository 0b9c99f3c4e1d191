"""Places of things, and what is near: "nearest to", "within 5 km of" and "how far from".

places    IRIs -> latitude and longitude; distances
branch    the branch `places`: the distances from a named thing to others
request   what a question asks about distances
routes    POST /api/graphs/{graph}/places, for maps
"""
