-- name: names
-- The subtree of a node is an id range, so its ancestors are the nodes whose range holds it.
SELECT t.node, f.layer, s.text
FROM (SELECT unnest($nodes::INTEGER[]) AS node) t
JOIN path_node a ON a.id <= t.node AND a.last >= t.node
JOIN frame f ON f.id = a.frame
JOIN string s ON s.id = f.name
WHERE a.parent IS NOT NULL
ORDER BY t.node, a.id;
