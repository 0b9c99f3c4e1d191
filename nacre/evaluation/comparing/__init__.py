"""Comparisons of answers to the same questions.

Commands, each with its usage in the first lines of its file:

- configurations: sets of branches, for `nacre compare`
- reasoners: the rules, the model, and the model without Nacre (model_alone)
- branches: what each branch answers alone, against all branches together
- fusion_losses: right candidates that the fusion did not choose
- strategies: parallel and waterfall
- robustness: questions and their rewordings
- pyramid: the layers of the knowledge pyramid, over a fictional faculty
"""
