"""Live recording in the profiled process: what `dctx record` starts there, and the API.

Imports nothing but the standard library and the native core: it runs inside the user's program."""
