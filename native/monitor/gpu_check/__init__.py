"""What live recording does on a machine with an NVIDIA GPU: one run of thirteen checks.

    python -m dctx.native.monitor.gpu_check --out results

Each check runs in a process of its own with a limit on its time; after each one `results.json` in
the folder is written anew. Needs dctx and a CUDA build of torch, and takes at most nine minutes.
Models have random weights; nothing is downloaded. With `--cpu` the same code runs on the CPU with
small models: a trial of it that needs no GPU, some minutes long (`--total 1200`)."""
