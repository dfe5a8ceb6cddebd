-- name: gpu
SELECT device::INTEGER AS device, lane, start_ns, start_ns + dur_ns AS end_ns,
       coalesce(launch, -1) AS launch
FROM gpu_op
WHERE list_contains($kinds, kind) AND device IS NOT NULL;

-- name: api_range
SELECT min(id), count(*), max(id) FROM host_event WHERE list_contains($kinds, kind);

-- name: api
SELECT lane, start_ns, start_ns + dur_ns AS end_ns, name
FROM host_event
WHERE id BETWEEN $first AND $last;

-- name: api_names
SELECT s.id, s.text
FROM string s
WHERE s.id IN (SELECT DISTINCT name FROM host_event WHERE list_contains($kinds, kind));

-- name: code
SELECT kind, lane, start_ns, start_ns + dur_ns AS end_ns, node AS label
FROM host_event
WHERE list_contains($kinds, kind) AND node IS NOT NULL;

-- name: nodes
SELECT n.frame, f.name
FROM path_node n
JOIN frame f ON f.id = n.frame
ORDER BY n.id;

-- name: waiting
SELECT kind, lane, start_ns, start_ns + dur_ns AS end_ns, name AS label
FROM host_event
WHERE list_contains($kinds, kind)
   OR (kind = $range AND name IN (SELECT id FROM string WHERE text = $gil));

-- name: scheduled
SELECT lane, start_ns, start_ns + dur_ns AS end_ns FROM sched_interval ORDER BY lane, start_ns;

-- name: texts
SELECT id, text FROM string WHERE id IN (SELECT unnest($ids::INTEGER[]));

-- name: graph_use
SELECT count(*) FILTER (kind = $graph), count(*) FILTER (kind = $kernel AND graph_node IS NOT NULL),
       count(*) FILTER (kind = $kernel)
FROM gpu_op
WHERE kind IN ($kernel, $graph) AND start_ns >= $start AND start_ns < $end;

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
