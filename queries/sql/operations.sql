-- name: below
WITH subtree AS (SELECT id, last FROM path_node WHERE id = $node),
used AS (
  SELECT DISTINCT args FROM (
    SELECT h.args FROM host_event h, subtree t WHERE h.node BETWEEN t.id AND t.last
    UNION ALL
    SELECT o.args FROM gpu_op o, subtree t WHERE o.node BETWEEN t.id AND t.last
    UNION ALL
    SELECT a.args FROM path_args a, subtree t WHERE a.node BETWEEN t.id AND t.last
  )
  WHERE args IS NOT NULL
)
SELECT s.text
FROM used u
JOIN op_args a ON a.id = u.args
JOIN string s ON s.id = a.other
WHERE starts_with(s.text, '{"hlo":')
ORDER BY s.text
LIMIT $limit;
