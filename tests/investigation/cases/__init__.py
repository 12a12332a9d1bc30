"""Investigations as data: what is asked, what the sources hold, what a scripted model does, what must come out."""
