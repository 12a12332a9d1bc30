"""Measures a diagnostician by scenarios: what it finds out, what it costs, and whether it ever makes things worse.

A scenario is data: a job, what was known before, and a tool that really runs on loopback and behaves as its script
says. What is judged is what would be written after the guards, not what was said.
"""
