"""The Faust worker: whole fetches as stream items, one table in memory, the order that loses nothing.

This layer is generic. It knows records, keys, revisions and steps, and nothing of tools or health.
"""
