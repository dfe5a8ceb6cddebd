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
