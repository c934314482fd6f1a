"""Hyperparameter search: a sweep whose trials are proposed one by one, and whose memory is the store."""
