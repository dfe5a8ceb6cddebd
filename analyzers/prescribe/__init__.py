"""Analyzers that prescribe: what is wrong, where, and what a change may gain at most.

Each module has `Limits`, `analyze(facts, limits)` and `findings(result, facts)`; `table` names
them all. Definitions are in `docs/findings.md`.
"""
