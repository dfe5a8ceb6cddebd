"""Reusable widgets, each demonstrable alone."""
