"""The status page: its files, and what it does in a real browser."""
