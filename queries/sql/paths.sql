-- name: tree
-- In id order: the table is written so.
SELECT coalesce(parent, -1)::INTEGER AS parent, depth, frame, last FROM path_node;

-- name: frames
SELECT f.layer, s.text, m.text, f.line
FROM frame f
JOIN string s ON s.id = f.name
LEFT JOIN string m ON m.id = f.file
ORDER BY f.id;

-- name: measured
-- Every host context has a number of samples, 0 also where nothing sampled.
SELECT count(gpu_ns) > 0, count(host_ns) > 0, count(calls) > 0, count(launches) > 0,
       count(kernels) > 0, coalesce(max(samples), 0) > 0, count(bytes) > 0
FROM path_metric;

-- name: host_exclusive
SELECT node, coalesce(host_ns, 0) AS host_ns, coalesce(calls, 0) AS calls,
       coalesce(launches, 0) AS launches, coalesce(samples, 0) AS samples,
       coalesce(bytes, 0) AS bytes
FROM path_metric
WHERE device IS NULL;

-- name: gpu_exclusive
SELECT node, coalesce(gpu_ns, 0) AS gpu_ns, coalesce(gpu_ops, 0) AS calls,
       coalesce(kernels, 0) AS kernels, coalesce(bytes, 0) AS bytes
FROM path_metric
WHERE device IS NOT NULL AND ($device IS NULL OR device = $device);

-- name: gpu_samples
-- Samples of instructions; those of a kernel whose context is not known are in no node.
SELECT node, sum(samples)::BIGINT AS samples
FROM stall
WHERE node IS NOT NULL AND ($device IS NULL OR device IS NULL OR device = $device)
GROUP BY node;

-- name: top
-- Launching contexts by the GPU work right below them, and the work of all of them.
SELECT n.parent, sum(m.gpu_ns)::BIGINT, sum(m.kernels)::BIGINT,
       sum(sum(m.gpu_ns)) OVER ()::BIGINT
FROM path_metric m
JOIN path_node n ON n.id = m.node
WHERE m.gpu_ns IS NOT NULL AND ($first IS NULL OR m.node BETWEEN $first AND $last)
GROUP BY n.parent
ORDER BY sum(m.gpu_ns) DESC, n.parent
LIMIT $limit;

-- name: top_host
SELECT node, sum(host_ns)::BIGINT, sum(calls)::BIGINT
FROM path_metric
WHERE host_ns > 0 AND ($first IS NULL OR node BETWEEN $first AND $last)
GROUP BY node
ORDER BY sum(host_ns) DESC, node
LIMIT $limit;

-- name: heaviest_of_name
SELECT s.text, arg_max(n.id, (coalesce(m.host_dur_sum_ns, 0), -n.id))
FROM path_node n
JOIN frame f ON f.id = n.frame
JOIN string s ON s.id = f.name
LEFT JOIN path_metric m ON m.node = n.id AND m.device IS NULL
WHERE list_contains($names, s.text)
  AND ($first IS NULL OR n.id BETWEEN $first AND $last)
GROUP BY s.text;

-- name: host_total
SELECT coalesce(sum(host_ns), 0)::BIGINT FROM path_metric
WHERE $first IS NULL OR node BETWEEN $first AND $last;

-- name: ops_below
SELECT k.kind, f.name, s.text, k.comm, sum(m.gpu_ops)::BIGINT, sum(m.gpu_ns)::BIGINT,
       min(m.gpu_min_ns), max(m.gpu_max_ns), sum(m.gpu_sumsq), sum(m.bytes)::BIGINT
FROM path_metric m
JOIN path_node n ON n.id = m.node
JOIN frame f ON f.id = n.frame
JOIN string s ON s.id = f.name
JOIN (SELECT kind, name, bool_or(comm) AS comm FROM op_stat GROUP BY kind, name) k
  ON k.name = f.name
 AND k.kind = list_position($layers, f.layer) - 1
WHERE m.node BETWEEN $first AND $last AND m.gpu_ns IS NOT NULL
  AND ($device IS NULL OR m.device = $device)
GROUP BY k.kind, f.name, s.text, k.comm
ORDER BY sum(m.gpu_ns) DESC, s.text, k.kind;

-- name: host_below
SELECT f.layer, s.text, sum(m.calls)::BIGINT, sum(m.host_ns)::BIGINT
FROM path_metric m
JOIN path_node n ON n.id = m.node
JOIN frame f ON f.id = n.frame
JOIN string s ON s.id = f.name
WHERE m.node BETWEEN $first AND $last AND m.calls > 0
GROUP BY f.layer, s.text
ORDER BY sum(m.host_ns) DESC NULLS LAST, s.text
LIMIT $limit;

-- name: host_calls
SELECT sum(calls)::BIGINT, min(host_dur_min_ns), max(host_dur_max_ns),
       sum(host_dur_sum_ns)::BIGINT, sum(host_dur_sumsq)
FROM path_metric
WHERE node = $node AND calls > 0;

-- name: payloads_at
-- What the events of one context carried with them.
SELECT s.text, count(*), sum(h.dur_ns) FILTER (NOT h.open)::BIGINT
FROM event_payload p
JOIN host_event h ON h.id = p.event
JOIN string s ON s.id = p.json
WHERE h.node = $node
GROUP BY s.text
ORDER BY count(*) DESC, s.text
LIMIT $limit;

-- name: captured_from
-- Where the graph nodes whose work is below a context were captured.
SELECT g.node, sum(o.dur_ns)::BIGINT, count(*)
FROM graph_site g
JOIN gpu_op o ON o.graph_node = g.graph_node
JOIN lane l ON l.id = o.lane AND l.process IS NOT DISTINCT FROM g.process
WHERE o.node BETWEEN $first AND $last AND ($device IS NULL OR o.device = $device)
GROUP BY g.node
ORDER BY sum(o.dur_ns) DESC, g.node
LIMIT $limit;

-- name: captured_here
-- Work of graph nodes that were captured below a context, wherever it was replayed.
SELECT s.text, count(*), sum(o.dur_ns)::BIGINT
FROM graph_site g
JOIN gpu_op o ON o.graph_node = g.graph_node
JOIN lane l ON l.id = o.lane AND l.process IS NOT DISTINCT FROM g.process
JOIN string s ON s.id = o.name
WHERE g.node BETWEEN $first AND $last AND ($device IS NULL OR o.device = $device)
GROUP BY s.text
ORDER BY sum(o.dur_ns) DESC, s.text
LIMIT $limit;

-- name: full_names_at
SELECT s.text, count(*), sum(o.dur_ns)::BIGINT
FROM gpu_op o
JOIN string s ON s.id = o.full_name
WHERE o.node = $node AND ($device IS NULL OR o.device = $device)
GROUP BY s.text
ORDER BY sum(o.dur_ns) DESC, s.text
LIMIT $limit;

-- name: measured_at
SELECT s.text, sum(v.value)
FROM path_value v JOIN string s ON s.id = v.name
WHERE v.node = $node AND v.device IS NULL AND NOT v.property
GROUP BY s.text
ORDER BY s.text;
