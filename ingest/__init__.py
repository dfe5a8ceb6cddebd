"""Readers of trace formats, and the store they fill."""
