"""What a running role says of itself: whether it is ready, whether it should be started again, and its metrics."""
