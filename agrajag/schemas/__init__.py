"""Describes the records for whoever writes or reads them in another language: JSON Schema and AsyncAPI.

Everything is drawn from the models, the topics and the words beside them, so that nothing is said twice.
"""
