"""The diagnosis of tools (spec agrajag §5): what is wrong, for whom, and for how long, by probes and history.

It may look and never touch: it probes what an operator has declared safe, reads health documents, and answers. What
becomes of its answer is decided elsewhere, by the evidence that comes with it.
"""
