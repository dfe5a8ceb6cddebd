-- name: starts_within
SELECT count(*)
FROM gpu_op
WHERE list_contains($kinds, kind) AND start_ns >= $start AND start_ns < $end;

-- name: graph_builds
SELECT h.start_ns
FROM host_event h
WHERE list_contains($kinds, h.kind) AND h.name IN (
  SELECT id FROM string
  WHERE regexp_matches(
    text, '^(cuda|cu|hip)(GraphInstantiate|GraphExecUpdate|StreamBeginCapture|StreamEndCapture)'
  )
)
ORDER BY h.start_ns;
