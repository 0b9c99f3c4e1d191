"""A chat model in this process.

In reading order:
    local_model   settings and a model file -> a chat model; its prompt prefilled with a schema
    local_engine  a llama.cpp server in this process; the files of models
    command       `nacre model`
"""
