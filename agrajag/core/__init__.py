"""Decisions as pure functions: values and `now` come in, values go out.

Nothing here reads a clock, a file, the environment or a socket, logs, or imports a third party other than matching
libraries. What a decision needs is an argument; what it changes is in its result.
"""
