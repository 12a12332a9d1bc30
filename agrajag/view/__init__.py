"""Views of the health documents, read from the compacted topic by whoever asks for them often."""
