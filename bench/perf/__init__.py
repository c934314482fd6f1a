"""Benchmarks of the code itself: training steps, the sweep engine, memory."""
