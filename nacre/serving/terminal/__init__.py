"""Output and checks that the commands share.

In reading order:

    options               options of several commands -> the context of a turn
    open_library          settings -> library and embedder
    turn_display          a turn as it happens: answer, citations, times
    answer_display        its tokens and tables
    chat                  the interactive conversation
    progress              a progress bar or lines
    layer_versions        a graph with changed layers
    recheck               verified questions after a graph was published
    draft_layer           a layer drafted by a model
    doctor                checks of the installation
    error_messages        exception -> one line and an exit code
    command_names         "nacre ..." in hints -> the command as it was started
    model_advice          how to get a chat model
    package_collisions    user modules that shadow Nacre's packages
"""
