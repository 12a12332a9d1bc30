"""Answers one question about an incident from evidence, or says what is missing (spec single-react).

Internal: no topic, no address and no command of Agrajag leads here. It shares the harness with the diagnosis of tools,
and nothing else of it.
"""
