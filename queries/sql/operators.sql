-- name: any_operator
SELECT count(*) > 0
FROM path_node n
JOIN frame f ON f.id = n.frame
WHERE list_contains($layers, f.layer);

-- name: arguments_at
-- GPU work counts for the calls of the context among the callers of its launch; the caller of a
-- backward operator is its forward one, as in the tree.
WITH RECURSIVE inside AS MATERIALIZED (
  SELECT id, node, coalesce(forward, parent) AS caller, args, dur_ns
  FROM host_event
  WHERE node BETWEEN $node AND $last
), work AS (
  SELECT coalesce(launch, op) AS event, sum(dur_ns) AS gpu_ns
  FROM gpu_op
  WHERE node BETWEEN $node AND $last AND ($device IS NULL OR device = $device)
  GROUP BY ALL
), up AS (
  SELECT i.id, i.node, i.caller, w.gpu_ns FROM work w JOIN inside i ON i.id = w.event
  UNION ALL
  SELECT i.id, i.node, i.caller, u.gpu_ns FROM up u JOIN inside i ON i.id = u.caller
  WHERE u.node <> $node
), costs AS (
  SELECT id, sum(gpu_ns) AS gpu_ns FROM up WHERE node = $node GROUP BY id
), called AS (
  SELECT i.args, count(*) AS calls, sum(i.dur_ns)::BIGINT AS host_ns,
         coalesce(sum(g.gpu_ns), 0)::BIGINT AS gpu_ns
  FROM inside i
  LEFT JOIN costs g ON g.id = i.id
  WHERE i.node = $node AND i.args IS NOT NULL
  GROUP BY i.args
  UNION ALL
  SELECT args, calls, host_dur_sum_ns, 0 FROM path_args WHERE node = $node AND calls > 0
)
SELECT h.text, t.text, r.text, c.text, d.calls, d.host_ns, d.gpu_ns, d.args IS NULL
FROM called d
LEFT JOIN op_args a ON a.id = d.args
LEFT JOIN string h ON h.id = a.shapes
LEFT JOIN string t ON t.id = a.types
LEFT JOIN string r ON r.id = a.strides
LEFT JOIN string c ON c.id = a.concrete
ORDER BY d.gpu_ns DESC, d.host_ns DESC, d.args
LIMIT $limit;

-- name: usual_arguments
-- What most calls of each context were called with, and how many kinds of arguments it had.
SELECT n.node, n.sets, h.text, t.text
FROM (
  SELECT node, count(*) AS sets, arg_max(args, (calls, -args)) AS args
  FROM (
    SELECT e.node, e.args, count(*) AS calls
    FROM host_event e
    JOIN path_node p ON p.id = e.node
    JOIN frame f ON f.id = p.frame
    WHERE e.args IS NOT NULL AND f.layer = $layer
    GROUP BY e.node, e.args
    UNION ALL
    SELECT node, args, calls FROM path_args WHERE args IS NOT NULL AND calls > 0
  )
  GROUP BY node
) n
JOIN op_args a ON a.id = n.args
LEFT JOIN string h ON h.id = a.shapes
LEFT JOIN string t ON t.id = a.types;

-- name: calls_by_arguments
-- Calls of each context by shapes and types.
SELECT d.node, h.text, t.text, sum(d.calls)::BIGINT, sum(d.ns)::BIGINT, d.args IS NULL
FROM (
  SELECT e.node, e.args, count(*) AS calls, sum(e.dur_ns) AS ns
  FROM host_event e
  JOIN path_node p ON p.id = e.node
  JOIN frame f ON f.id = p.frame
  WHERE e.args IS NOT NULL AND f.layer = $layer
  GROUP BY e.node, e.args
  UNION ALL
  SELECT node, args, calls, host_dur_sum_ns FROM path_args WHERE calls > 0
) d
LEFT JOIN op_args a ON a.id = d.args
LEFT JOIN string h ON h.id = a.shapes
LEFT JOIN string t ON t.id = a.types
GROUP BY ALL
ORDER BY d.node, d.args IS NULL, h.text, t.text;
