-- name: lanes
SELECT id, kind, process, device, name FROM lane ORDER BY id;

-- name: processes
SELECT id, pid, name, rank FROM process ORDER BY id;
