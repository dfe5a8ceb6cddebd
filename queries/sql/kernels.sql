-- name: op_stats
SELECT o.kind, o.name, s.text, bool_or(o.comm), sum(o.count)::BIGINT, sum(o.sum_ns)::BIGINT,
       min(o.min_ns), max(o.max_ns), sum(o.sumsq), sum(o.bytes)::BIGINT
FROM op_stat o
JOIN string s ON s.id = o.name
WHERE list_contains($kinds, o.kind) AND ($device IS NULL OR o.device = $device)
GROUP BY o.kind, o.name, s.text
ORDER BY sum(o.sum_ns) DESC, s.text, o.kind
LIMIT $limit;

-- name: gpu_total
SELECT coalesce(sum(sum_ns), 0)::BIGINT
FROM op_stat
WHERE kind <> $sync AND ($device IS NULL OR device = $device);

-- name: callers
-- The last column is the time of all of them, also beyond the limit.
SELECT m.node, sum(m.gpu_ns)::BIGINT, sum(m.gpu_ops)::BIGINT, sum(sum(m.gpu_ns)) OVER ()::BIGINT
FROM path_metric m
JOIN path_node n ON n.id = m.node
JOIN frame f ON f.id = n.frame
WHERE f.layer = $layer AND f.name = $name AND m.gpu_ns IS NOT NULL
  AND ($device IS NULL OR m.device = $device)
  AND ($first IS NULL OR m.node BETWEEN $first AND $last)
GROUP BY m.node
ORDER BY sum(m.gpu_ns) DESC, m.node
LIMIT $limit;

-- name: launch_shapes
SELECT c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z,
       nullif(c.registers_per_thread, 0),
       coalesce(c.static_shared_bytes + c.dynamic_shared_bytes, c.shared_bytes)::BIGINT,
       sum(o.count)::BIGINT, sum(o.sum_ns)::BIGINT
FROM launched o
JOIN launch_config c ON c.id = o.config
WHERE o.kind = $kind
  AND ($name IS NULL OR o.name = $name)
  AND ($first IS NULL OR o.node BETWEEN $first AND $last)
  AND ($device IS NULL OR o.device = $device)
GROUP BY ALL
ORDER BY sum(o.sum_ns) DESC, sum(o.count) DESC, c.grid_x, c.grid_y, c.grid_z, c.block_x
LIMIT $limit;

-- name: duration_range
SELECT count(*), min(o.dur_ns), quantile_disc(o.dur_ns, 0.5), quantile_disc(o.dur_ns, 0.99),
       max(o.dur_ns)
FROM gpu_op o
WHERE o.kind = $kind
  AND ($name IS NULL OR o.name = $name)
  AND ($first IS NULL OR o.node BETWEEN $first AND $last)
  AND ($device IS NULL OR o.device = $device);

-- name: duration_counts
SELECT unnest(map_keys(counts)), unnest(map_values(counts))
FROM (
  SELECT histogram(o.dur_ns, $bounds::BIGINT[]) AS counts
  FROM gpu_op o
  WHERE o.kind = $kind
    AND ($name IS NULL OR o.name = $name)
    AND ($first IS NULL OR o.node BETWEEN $first AND $last)
    AND ($device IS NULL OR o.device = $device)
);

-- name: durations
SELECT node, dur_ns FROM gpu_op WHERE kind = $kind AND node BETWEEN $first AND $last;
