-- name: lanes
SELECT id, kind, process, device, name FROM lane ORDER BY id;

-- name: processes
SELECT id, pid, name, rank FROM process ORDER BY id;

-- name: first_nodes
-- A node of each process that has any in the tree.
SELECT process, min(node)
FROM (
  SELECT l.process, h.node FROM host_event h JOIN lane l ON l.id = h.lane
  UNION ALL
  SELECT l.process, o.node FROM gpu_op o JOIN lane l ON l.id = o.lane
)
WHERE process IS NOT NULL AND node > 0
GROUP BY process;
