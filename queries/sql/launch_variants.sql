-- name: launches
-- Launches of each context by configuration.
SELECT o.node, o.config AS way, sum(o.count)::BIGINT AS calls
FROM launched o
WHERE o.node IS NOT NULL
GROUP BY o.node, o.config
ORDER BY o.node, o.config;

-- name: configs
SELECT id, grid_x, grid_y, grid_z, block_x, block_y, block_z, registers_per_thread,
       coalesce(shared_bytes, static_shared_bytes + dynamic_shared_bytes)
FROM launch_config;

-- name: arguments
-- Calls of each context by shapes and types.
SELECT e.node, e.args AS way, count(*) AS calls
FROM host_event e
WHERE e.node IS NOT NULL AND e.args IS NOT NULL
GROUP BY e.node, e.args
UNION ALL
SELECT node, args, calls FROM path_args WHERE args IS NOT NULL AND calls > 0
ORDER BY node, way;

-- name: argument_texts
SELECT a.id, h.text, t.text
FROM op_args a
LEFT JOIN string h ON h.id = a.shapes
LEFT JOIN string t ON t.id = a.types
WHERE a.shapes IS NOT NULL OR a.types IS NOT NULL;
