"""The `dctx` command for scripting."""
