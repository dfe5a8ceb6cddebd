-- name: gpu_range
SELECT min(id), max(id) FROM gpu_op WHERE list_contains($kinds, kind);

-- name: gpu_devices
SELECT device::INTEGER AS place, start_ns, start_ns + dur_ns AS end_ns
FROM gpu_op
WHERE id >= $from_id AND id < $to_id AND list_contains($kinds, kind) AND device IS NOT NULL;

-- name: gpu_streams
SELECT lane AS place, start_ns, start_ns + dur_ns AS end_ns
FROM gpu_op
WHERE id >= $from_id AND id < $to_id AND list_contains($kinds, kind) AND device IS NOT NULL;

-- name: launched
SELECT device::INTEGER AS device, launch, start_ns
FROM gpu_op
WHERE id >= $from_id AND id < $to_id AND list_contains($kinds, kind) AND device IS NOT NULL
  AND launch IS NOT NULL;

-- name: api_range
SELECT min(id), count(*), max(id) FROM host_event WHERE list_contains($kinds, kind);

-- name: api_lanes
SELECT lane FROM host_event WHERE id >= $from_id AND id < $to_id;

-- name: api_named
SELECT id, lane, start_ns, start_ns + dur_ns AS end_ns
FROM host_event
WHERE id >= $from_id AND id < $to_id AND list_contains($names, name);

-- name: runs
-- Sorted by kind, lane and start: the events of a kind and lane follow each other.
SELECT lane, min(id), max(id) + 1
FROM host_event
WHERE list_contains($kinds, kind)
GROUP BY kind, lane
ORDER BY kind, lane;

-- name: call_spans
SELECT start_ns, start_ns + dur_ns AS end_ns, name AS label
FROM host_event
WHERE id >= $from_id AND id < $to_id AND start_ns + dur_ns > $first;

-- name: api_names
SELECT s.id, s.text
FROM string s
WHERE s.id IN (SELECT DISTINCT name FROM host_event WHERE list_contains($kinds, kind));

-- name: code_spans
SELECT start_ns, start_ns + dur_ns AS end_ns, node AS label
FROM host_event
WHERE id >= $from_id AND id < $to_id AND start_ns + dur_ns > $first AND node IS NOT NULL;

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
WHERE kind IN ($kernel, $graph) AND start_ns >= $start AND start_ns < $end
  AND ($devices IS NULL OR list_contains($devices, device));

-- name: starts_within
SELECT count(*)
FROM gpu_op
WHERE list_contains($kinds, kind) AND start_ns >= $start AND start_ns < $end
  AND ($devices IS NULL OR list_contains($devices, device));

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
