#!/bin/sh
# Runs mypy and pyright, and fails when either looked at fewer files than the repository holds:
# a broken path would otherwise pass by checking nothing.
set -eu
expected=$(git ls-files --cached --others --exclude-standard '*.py' '*.pyi' | grep -cE '^(native|ingest|queries|analyzers|reports|cli|tui|demo_data|tests|bench)/')

mypy | tee /dev/stderr | grep -oE 'in [0-9]+ source files' | grep -oE '[0-9]+' >/tmp/dctx-mypy.$$ || { rm -f /tmp/dctx-mypy.$$; exit 1; }
checked=$(cat /tmp/dctx-mypy.$$)
rm -f /tmp/dctx-mypy.$$
[ "$checked" -ge "$expected" ] || { echo "mypy checked $checked of $expected files" >&2; exit 1; }

report=$(pyright --outputjson) || { echo "$report" | python3 -c '
import json, sys
for d in json.load(sys.stdin)["generalDiagnostics"]:
    start = d["range"]["start"]
    print(f"{d['"'"'file'"'"']}:{start['"'"'line'"'"'] + 1}: {d['"'"'message'"'"']}")'; exit 1; }
analysed=$(echo "$report" | python3 -c 'import json, sys; print(json.load(sys.stdin)["summary"]["filesAnalyzed"])')
[ "$analysed" -ge "$expected" ] || { echo "pyright checked $analysed of $expected files" >&2; exit 1; }
echo "types: $expected files, mypy $checked, pyright $analysed"
