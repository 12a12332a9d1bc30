"""What the API decides from values alone. It stands beside no running API: a server on another thread draws random
numbers, which Hypothesis takes for those of its own strategies."""
