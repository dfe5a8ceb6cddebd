-- name: order
-- The row order of the table, once: pages are then slices of it. Ids break ties, so that equal
-- keys stay by stream and start in either direction.
WITH found AS (
  SELECT id FROM string WHERE contains(lower(text), lower($text))
), ranked AS (
  SELECT id, row_number() OVER (ORDER BY lower(text), id) AS place
  FROM string
  WHERE id IN (SELECT name FROM op_stat)
)
SELECT o.id
FROM gpu_op o
LEFT JOIN ranked n ON n.id = o.name
WHERE list_contains($kinds, o.kind)
  AND ($name IS NULL OR o.name = $name)
  AND ($device IS NULL OR o.device = $device)
  AND ($text = '' OR o.name IN (FROM found) OR o.full_name IN (FROM found))
ORDER BY $sign * CASE $sort
  WHEN 'start' THEN o.start_ns
  WHEN 'duration' THEN o.dur_ns
  WHEN 'name' THEN n.place
  WHEN 'stream' THEN o.lane
  WHEN 'bytes' THEN o.bytes
END NULLS LAST, o.id;

-- name: rows
-- Ids are row numbers: by rowid only the blocks that hold the rows are read.
SELECT id, kind, device, lane, start_ns, dur_ns, name, full_name, correlation, launch, node, config,
       bytes, graph_node
FROM gpu_op
WHERE rowid IN (SELECT unnest($ids::BIGINT[]));

-- name: texts
SELECT id, text FROM string WHERE rowid IN (SELECT unnest($ids::BIGINT[]));

-- name: configs
SELECT id, grid_x, grid_y, grid_z, block_x, block_y, block_z, registers_per_thread,
       static_shared_bytes, dynamic_shared_bytes
FROM launch_config
WHERE rowid IN (SELECT unnest($ids::BIGINT[]));

-- name: lanes
SELECT id, name FROM lane WHERE rowid IN (SELECT unnest($ids::BIGINT[]));
