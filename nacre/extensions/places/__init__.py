"""Places of things, and what is near: "nearest to", "within 5 km of" and "how far from".

places    IRIs -> latitude and longitude, also at /api/graphs/{graph}/places; the branch `places` for distances
static/   the map of the page
"""
