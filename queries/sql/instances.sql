-- name: keys
-- What the table is sorted by. Operations without bytes get the smallest number.
SELECT o.id, CASE $sort
    WHEN 'start' THEN o.start_ns
    WHEN 'duration' THEN o.dur_ns
    WHEN 'name' THEN o.name
    WHEN 'stream' THEN o.lane
    ELSE coalesce(o.bytes, -9223372036854775808)
  END::BIGINT AS key
FROM gpu_op o
WHERE list_contains($kinds, o.kind)
  AND ($name IS NULL OR o.name = $name)
  AND ($device IS NULL OR o.device = $device);

-- name: matching_keys
WITH found AS (
  SELECT id FROM string WHERE contains(lower(text), lower($text))
)
SELECT o.id, CASE $sort
    WHEN 'start' THEN o.start_ns
    WHEN 'duration' THEN o.dur_ns
    WHEN 'name' THEN o.name
    WHEN 'stream' THEN o.lane
    ELSE coalesce(o.bytes, -9223372036854775808)
  END::BIGINT AS key
FROM gpu_op o
WHERE list_contains($kinds, o.kind)
  AND ($name IS NULL OR o.name = $name)
  AND ($device IS NULL OR o.device = $device)
  AND (o.name IN (FROM found) OR o.full_name IN (FROM found));

-- name: names
SELECT id FROM string WHERE id IN (SELECT name FROM op_stat) ORDER BY lower(text), id;

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
