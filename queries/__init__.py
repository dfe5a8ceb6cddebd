"""Typed questions to an open store. The only folder with SQL, next to the schema."""
