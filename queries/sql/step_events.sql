-- name: host_range
SELECT max(id) FROM host_event;

-- name: gpu_range
SELECT max(id) FROM gpu_op;

-- name: host
-- In table order (kind, lane, start). Events of the call tree whose end is known.
SELECT id, lane, start_ns, dur_ns, self_ns, node
FROM host_event
WHERE id >= $from_id AND id < $to_id AND self_ns IS NOT NULL AND node IS NOT NULL AND NOT open
  AND start_ns >= $first AND start_ns < $last;

-- name: open_ranges
SELECT count(*)
FROM host_event
WHERE open AND self_ns IS NOT NULL AND start_ns >= $first AND start_ns < $last;

-- name: launched
-- Work that is GPU time and whose launch is in the trace.
SELECT launch, dur_ns, node, graph_node IS NOT NULL AS in_graph
FROM gpu_op
WHERE id >= $from_id AND id < $to_id AND launch IS NOT NULL AND node IS NOT NULL AND NOT list_contains($no_work, kind)
  AND start_ns >= $first;

-- name: located
-- As `launched`, whether or not the launch is known, with place and time.
SELECT coalesce(launch, -1)::INTEGER AS launch, dur_ns, node, graph_node IS NOT NULL AS in_graph,
       device, start_ns
FROM gpu_op
WHERE id >= $from_id AND id < $to_id AND device IS NOT NULL AND node IS NOT NULL
  AND NOT list_contains($no_work, kind)
  AND start_ns >= $first;

-- name: sized
SELECT coalesce(launch, -1)::INTEGER AS launch, device, start_ns, bytes, node
FROM gpu_op
WHERE bytes IS NOT NULL AND device IS NOT NULL AND node IS NOT NULL
  AND NOT list_contains($no_work, kind) AND start_ns >= $first;

-- name: samples
-- In table order (lane, time).
SELECT lane, time_ns AS start_ns, node
FROM cpu_sample
WHERE node IS NOT NULL AND time_ns >= $first AND time_ns < $last;

-- name: collectives
SELECT coalesce(launch, -1)::INTEGER AS launch, device, start_ns, node
FROM gpu_op
WHERE name IN (SELECT name FROM op_stat WHERE comm AND kind = $kernel) AND kind = $kernel
  AND device IS NOT NULL AND node IS NOT NULL AND start_ns >= $first;

-- name: collective_costs
-- -1: not recorded.
SELECT coalesce(launch, -1)::INTEGER AS launch, device, start_ns, dur_ns, node, name,
       coalesce(collective, -1)::INTEGER AS collective
FROM gpu_op
WHERE name IN (SELECT name FROM op_stat WHERE comm AND kind = $kernel) AND kind = $kernel
  AND device IS NOT NULL AND node IS NOT NULL AND ($first IS NULL OR start_ns >= $first);

-- name: collective_texts
SELECT c.id, n.text, d.text, c.in_elements, c.group_size
FROM collective c
LEFT JOIN string n ON n.id = c.name
LEFT JOIN string d ON d.id = c.dtype;

-- name: gpu_rows
SELECT count(*), count(launch)
FROM gpu_op
WHERE NOT list_contains($no_work, kind) AND start_ns >= $first AND start_ns < $last;

-- name: launch_nodes
SELECT DISTINCT node FROM path_metric WHERE launches > 0;

-- name: context_count
SELECT count(*) FROM path_node;

-- name: nodes
-- In id order: the table is written so.
SELECT coalesce(n.parent, -1)::INTEGER AS parent, n.frame, f.layer, f.name
FROM path_node n
JOIN frame f ON f.id = n.frame
ORDER BY n.id;

-- name: texts
SELECT id, text FROM string WHERE list_contains($ids, id);
