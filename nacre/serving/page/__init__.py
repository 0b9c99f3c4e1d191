"""The web page.

pages    the routes of the page and of the API's documentation, with their content security policies
static/  index.html and its files: css/, words/ (texts by language), shared/ (API, DOM, state, labels), turn/ (one
         question and its answer), shell/ (conversation, lists, options; main.js starts the page)
"""
