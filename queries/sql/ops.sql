-- name: names
SELECT DISTINCT o.name, s.text
FROM op_stat o
JOIN string s ON s.id = o.name
WHERE list_contains($kinds, o.kind)
ORDER BY o.name;

-- name: named
SELECT device::INTEGER AS device, start_ns, start_ns + dur_ns AS end_ns
FROM gpu_op
WHERE kind = $kind AND device IS NOT NULL AND name IN (SELECT unnest($names::INTEGER[]))
ORDER BY device, start_ns, end_ns;

-- name: replays
SELECT device::INTEGER AS device, graph, min(start_ns) AS start_ns, max(start_ns + dur_ns) AS end_ns
FROM gpu_op
WHERE list_contains($kinds, kind) AND graph IS NOT NULL AND launch IS NOT NULL
  AND device IS NOT NULL
GROUP BY device, graph, launch
ORDER BY device, start_ns, graph;

-- name: at
-- The few rows first: joined to all events they would cost twenty times as much.
WITH found AS MATERIALIZED (
  SELECT id, device, name, start_ns, dur_ns, launch, node
  FROM gpu_op
  WHERE list_contains($kinds, kind) AND device = $device AND dur_ns > 0
    AND start_ns IN (SELECT unnest($starts::BIGINT[]))
  UNION
  SELECT id, device, name, start_ns, dur_ns, launch, node
  FROM gpu_op
  WHERE list_contains($kinds, kind) AND device = $device AND dur_ns > 0
    AND start_ns + dur_ns IN (SELECT unnest($ends::BIGINT[]))
)
SELECT o.id, o.device, s.text, o.start_ns, o.start_ns + o.dur_ns, o.launch, h.node, o.node
FROM found o
JOIN string s ON s.id = o.name
LEFT JOIN (
  SELECT id, node FROM host_event WHERE id IN (SELECT launch FROM found)
) h ON h.id = o.launch
ORDER BY o.start_ns, o.id;

-- name: eager
SELECT s.text, o.node, count(*), sum(o.dur_ns)::BIGINT
FROM gpu_op o
JOIN string s ON s.id = o.name
WHERE o.kind = $kind AND o.graph_node IS NULL AND o.start_ns >= $start AND o.start_ns < $end
  AND ($devices IS NULL OR list_contains($devices, o.device))
GROUP BY s.text, o.node
ORDER BY sum(o.dur_ns) DESC, s.text, o.node
LIMIT $limit;

-- name: launched
SELECT o.name, o.start_ns, o.start_ns + o.dur_ns AS end_ns, coalesce(o.node, -1) AS node
FROM gpu_op o
WHERE o.kind = $kind AND o.device = $device AND o.launch IN (
  SELECT h.id
  FROM host_event h
  JOIN lane l ON l.id = h.lane
  WHERE h.start_ns >= $start AND h.start_ns < $end
    AND ($process IS NULL OR l.process = $process)
)
ORDER BY o.start_ns, o.id;
