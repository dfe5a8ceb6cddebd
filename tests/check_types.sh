#!/bin/sh
# Runs mypy and pyright, and fails when either looked at fewer files than the repository holds:
# a broken path would otherwise pass by checking nothing.
set -eu
expected=$(git ls-files --cached --others --exclude-standard '*.py' '*.pyi' |
  grep -cE '^(native|ingest|queries|analyzers|reports|cli|tui|live|demo_data|tests|bench)/')

said=$(mypy) || { echo "$said"; exit 1; }
checked=$(echo "$said" | sed -n 's/.* in \([0-9]*\) source files.*/\1/p')
[ "${checked:-0}" -ge "$expected" ] || { echo "mypy checked ${checked:-0} of $expected files"; exit 1; }

report=$(mktemp)
trap 'rm -f "$report"' EXIT
pyright --outputjson >"$report" || {
  python3 - "$report" <<'END'
import json
import sys

for found in json.load(open(sys.argv[1]))["generalDiagnostics"]:
    print(f"{found['file']}:{found['range']['start']['line'] + 1}: {found['message']}")
END
  exit 1
}
analysed=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["summary"]["filesAnalyzed"])' "$report")
[ "$analysed" -ge "$expected" ] || { echo "pyright checked $analysed of $expected files"; exit 1; }
echo "types: $expected files; mypy checked $checked, pyright $analysed"
