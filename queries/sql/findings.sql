-- name: host_nodes
-- In id order: the table is written so.
SELECT coalesce(node, -1)::INTEGER AS node FROM host_event ORDER BY id;

-- name: gpu_nodes
-- By (device, start), as report_events.work.
SELECT coalesce(node, -1)::INTEGER AS node, graph_node IS NOT NULL AS in_graph
FROM gpu_op
WHERE device IS NOT NULL AND NOT list_contains($no_work, kind)
ORDER BY device, start_ns, id;

-- name: ran_once
SELECT v.node::INTEGER AS node, sum(v.value)::BIGINT AS ns
FROM path_value v JOIN string s ON s.id = v.name
WHERE s.text = $name AND v.device IS NULL
GROUP BY v.node
ORDER BY v.node;

-- name: event_count
SELECT (SELECT count(*) FROM host_event) + (SELECT count(*) FROM gpu_op);

-- name: sm_counts
SELECT id, sm_count, compute_major FROM device ORDER BY id;

-- name: peak_memory
-- Of each device at the moment when the allocator held most of it.
SELECT device, max(reserved_bytes)::BIGINT, max(allocated_bytes)::BIGINT
FROM memory_event
WHERE device IS NOT NULL AND reserved_bytes IS NOT NULL AND allocated_bytes IS NOT NULL
GROUP BY device
ORDER BY device;

-- name: host_visits
SELECT node, calls, host_dur_sum_ns AS sum_ns, host_dur_max_ns AS max_ns
FROM path_metric
WHERE device IS NULL AND calls > 0 AND host_dur_sum_ns IS NOT NULL AND host_dur_max_ns IS NOT NULL
ORDER BY node;
