"""The worker: whole fetches as stream items, one table in memory, the order that loses nothing.

Reading, order, table and watchdog are generic: they know records, keys, revisions and steps. What a tool is,
`triaging` and `entries` know alone, and `worker` puts both together.
"""
