"""The records that travel and the documents that stand, as frozen values; nothing here decides or connects."""
