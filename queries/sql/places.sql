-- name: host
SELECT node FROM host_event WHERE id = $id;

-- name: gpu
SELECT o.kind, s.text, o.node
FROM gpu_op o
JOIN string s ON s.id = o.name
WHERE o.id = $id;

-- name: named
-- Work of a name, by the short name that totals are kept by.
SELECT o.kind, s.text, o.node
FROM gpu_op o
JOIN string s ON s.id = o.name
WHERE coalesce(o.full_name, o.name) = $name
LIMIT 1;
