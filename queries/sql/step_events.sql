-- name: host
-- In table order (kind, lane, start). Events of the call tree whose end is known.
SELECT id, kind, lane, start_ns, dur_ns, self_ns, node
FROM host_event
WHERE self_ns IS NOT NULL AND node IS NOT NULL AND NOT open
  AND start_ns >= $first AND start_ns < $last;

-- name: open_ranges
SELECT count(*)
FROM host_event
WHERE open AND self_ns IS NOT NULL AND start_ns >= $first AND start_ns < $last;

-- name: gpu
-- Work that is GPU time; -1 where the launch is not in the trace.
SELECT device, coalesce(launch, -1)::INTEGER AS launch, start_ns, dur_ns, node, kind,
       graph_node IS NOT NULL AS in_graph, coalesce(bytes, 0) AS bytes
FROM gpu_op
WHERE kind <> $sync AND device IS NOT NULL AND node IS NOT NULL AND start_ns >= $first;

-- name: launch_nodes
SELECT DISTINCT node FROM path_metric WHERE launches > 0;

-- name: nodes
-- In id order: the table is written so.
SELECT coalesce(n.parent, -1)::INTEGER AS parent, n.frame, f.layer, f.name
FROM path_node n
JOIN frame f ON f.id = n.frame
ORDER BY n.id;

-- name: texts
SELECT id, text FROM string WHERE list_contains($ids, id);

-- name: lanes
SELECT id, coalesce(process, -1)::INTEGER AS process FROM lane WHERE kind = $thread ORDER BY id;
