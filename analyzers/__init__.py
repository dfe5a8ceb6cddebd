"""Analyses over the queries: pure, deterministic, no terminal."""
