"""What is said if no rows and no text of a document answer, or beside rows that are not sure.

In reading order:

nearest   the facts and texts that are nearest to the question
requests  what is said to a request for a deed or an opinion
absence   why there is no answer
"""
