-- name: shapes
-- No kernel runs without registers: 0 is not known.
SELECT o.device, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z,
       nullif(c.registers_per_thread, 0),
       coalesce(c.static_shared_bytes + c.dynamic_shared_bytes, c.shared_bytes)::BIGINT,
       c.occupancy_percent, sum(o.count)::BIGINT, sum(o.sum_ns)::BIGINT, sum(o.unseen)::BIGINT
FROM launched o
JOIN launch_config c ON c.id = o.config
WHERE o.kind = $kind AND o.name = $name
  AND ($first IS NULL OR o.node BETWEEN $first AND $last)
  AND ($device IS NULL OR o.device = $device)
GROUP BY ALL
ORDER BY sum(o.sum_ns) DESC, sum(o.count) DESC, o.device, c.grid_x, c.grid_y, c.grid_z, c.block_x,
         nullif(c.registers_per_thread, 0)
LIMIT $limit;

-- name: devices
SELECT id, coalesce(label, 'GPU ' || ordinal), name, sm_count, compute_major, compute_minor
FROM device ORDER BY id;

-- name: quartiles
SELECT count(*), quantile_cont(o.dur_ns, 0.25), quantile_cont(o.dur_ns, 0.5),
       quantile_cont(o.dur_ns, 0.75)
FROM gpu_op o
WHERE o.kind = $kind AND o.name = $name
  AND ($first IS NULL OR o.node BETWEEN $first AND $last)
  AND ($device IS NULL OR o.device = $device);

-- name: slow
-- The sums are those of all slow ones, also beyond the limit.
SELECT o.start_ns, o.dur_ns, o.device, l.name, o.node, count(*) OVER (),
       (sum(o.dur_ns) OVER ())::BIGINT
FROM gpu_op o
JOIN lane l ON l.id = o.lane
WHERE o.kind = $kind AND o.name = $name AND o.dur_ns > $above
  AND ($first IS NULL OR o.node BETWEEN $first AND $last)
  AND ($device IS NULL OR o.device = $device)
ORDER BY o.dur_ns DESC, o.start_ns, o.id
LIMIT $limit;

-- name: launches
SELECT o.id FROM gpu_op o
WHERE o.kind = $kind AND o.name = $name
  AND ($first IS NULL OR o.node BETWEEN $first AND $last)
  AND ($device IS NULL OR o.device = $device)
ORDER BY o.id;

-- name: counters
-- Of single launches: rocprofv3 counts by dispatch, and they stand at its start. Other recordings
-- sample counters over time.
SELECT s.text, count(*), avg(c.value), min(c.value), max(c.value)
FROM counter c
JOIN gpu_op o ON o.device = c.device AND o.start_ns = c.time_ns
JOIN string s ON s.id = c.name
WHERE (SELECT value FROM trace WHERE key = 'producer') = 'rocprofv3'
  AND o.kind = $kind AND o.name = $name AND c.value IS NOT NULL
  AND ($first IS NULL OR o.node BETWEEN $first AND $last)
  AND ($device IS NULL OR o.device = $device)
GROUP BY s.text
ORDER BY s.text;
