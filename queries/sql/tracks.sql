-- name: host_runs
-- Sorted by kind, lane and start: the events of a kind and lane follow each other.
SELECT kind, lane, min(id), max(id) + 1
FROM host_event
WHERE list_contains($kinds, kind)
GROUP BY kind, lane
ORDER BY lane, kind;

-- name: gpu_runs
SELECT kind, lane, min(id), max(id) + 1
FROM gpu_op
WHERE list_contains($kinds, kind)
GROUP BY kind, lane
ORDER BY lane, kind;

-- name: host_columns
SELECT start_ns, start_ns + dur_ns AS end_ns, name
FROM host_event
WHERE id >= $from_id AND id < $to_id;

-- name: gpu_columns
SELECT start_ns, start_ns + dur_ns AS end_ns, name
FROM gpu_op
WHERE id >= $from_id AND id < $to_id;

-- name: span
SELECT least(h.first, g.first), greatest(h.last, g.last)
FROM (SELECT min(start_ns) AS first, max(start_ns + dur_ns) AS last FROM host_event
      WHERE list_contains($host, kind)) h,
     (SELECT min(start_ns) AS first, max(start_ns + dur_ns) AS last FROM gpu_op
      WHERE list_contains($gpu, kind)) g;

-- name: texts
SELECT id, text FROM string WHERE rowid IN (SELECT unnest($ids::BIGINT[]));

-- name: host_event
SELECT kind, lane, start_ns, start_ns + dur_ns, node, open FROM host_event WHERE rowid = $id;

-- name: gpu_event
SELECT kind, lane, start_ns, start_ns + dur_ns, node, launch, bytes
FROM gpu_op WHERE rowid = $id;

-- name: launched_by
-- What a call launched, in order of time.
SELECT id, start_ns FROM gpu_op
WHERE launch = $id AND list_contains($kinds, kind)
ORDER BY start_ns, id;
