-- name: facts
SELECT key, value FROM trace ORDER BY key;

-- name: notes
SELECT severity, source, text FROM note ORDER BY severity DESC, source, text;

-- name: counts
-- A device with a name of its own that is not assumed is one of the others, seen by another API.
SELECT (SELECT count(*) FROM process),
       (SELECT count(*) FROM device WHERE label IS NULL OR assumed),
       (SELECT sum(kernel_count)::BIGINT FROM device_busy);

-- name: devices
SELECT id, ordinal, process, name, label, assumed FROM device ORDER BY id;

-- name: device_times
SELECT d.id, d.name, d.assumed,
       sum(t.ns) FILTER (t.class = $compute)::BIGINT,
       sum(t.ns) FILTER (t.class = $comm)::BIGINT,
       sum(t.ns) FILTER (t.class = $copy)::BIGINT,
       sum(t.ns) FILTER (t.class = $idle)::BIGINT,
       b.busy_ns, b.kernel_count, b.kernel_sum_ns, b.first_ns, b.last_ns
FROM device d
JOIN device_time t ON t.device = d.id
LEFT JOIN device_busy b ON b.device = d.id
GROUP BY d.id, d.name, d.assumed, b.busy_ns, b.kernel_count, b.kernel_sum_ns, b.first_ns, b.last_ns
ORDER BY d.id;

-- name: processes
SELECT id, pid, name, rank FROM process ORDER BY id;
