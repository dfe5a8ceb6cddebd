"""Benchmarks: `python -m bench` from the repository's root. Never part of the tests."""
