"""The pattern that all service engines share (spec agrajag §12): a job in, one process, a bounded run, an answer out.

An engine is a name, roles, a recipe, an input model, an output model and a `run`. The rest is here: the queue and its
lanes, sessions, processes, the originating user, recipes, budgets, and which tools an engine may see.
"""
