"""OpenAI's API at /v1, in which a graph is a model.

In reading order:

    routes             the routes, and the turn behind each
    chat_request       a chat request -> the question and the earlier questions
    chat_completion    an answer record -> a chat completion, whole or in chunks
    responses          the Responses API: its request and its response
"""
