"""Measure and learn: what a checkout can do beside `nacre eval`, `compare` and `calibrate`. Not part of the wheel.

Each of these runs as `python -m evaluation.NAME`; `python -m evaluation` asks and scores the bundled graphs.
    bundled_sets            the bundled graphs with questions
    ablation                what each pass of understanding is worth
    learn                   weights and limits of the rules
    calibrate_answers       weights of what is said with confidence, in minutes
    answer_limits, samples  what `learn` needs: limits of what is answered, samples of the parser,
                            chosen options; values compared in any order
    learn_text_answers, learn_sufficiency
                            weights of text answers, of single triples
    verified_measure, verified_learn
                            what verified questions are worth, and the weights of likeness to them
    faculty, ferry          fictional graphs with texts
    reword, unanswerable    questions derived from other questions, graphs without their answers; whether answers change
"""
