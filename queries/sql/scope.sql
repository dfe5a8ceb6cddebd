-- name: host
-- Events of the call tree, those without a recorded end included.
SELECT lane, start_ns AS at_ns, self_ns, node
FROM host_event
WHERE self_ns IS NOT NULL AND node IS NOT NULL AND start_ns >= $first AND start_ns < $last;

-- name: samples
SELECT lane, time_ns AS at_ns, node
FROM cpu_sample
WHERE node IS NOT NULL AND time_ns >= $first AND time_ns < $last;

-- name: work
-- GPU work by the start of its launch; by its own where the launch is not in the trace.
SELECT o.lane, coalesce(h.start_ns, o.start_ns) AS at_ns, o.kind, o.name, o.node, o.dur_ns,
       coalesce(o.bytes, 0)::BIGINT AS bytes
FROM gpu_op o
LEFT JOIN (
  SELECT id, start_ns FROM host_event WHERE start_ns >= $first AND start_ns < $last
) h ON h.id = o.launch
WHERE o.node IS NOT NULL AND NOT list_contains($no_work, o.kind)
  AND ($device IS NULL OR o.device = $device)
  AND (h.id IS NOT NULL OR (o.launch IS NULL AND o.start_ns >= $first AND o.start_ns < $last));

-- name: communication
SELECT DISTINCT name FROM op_stat WHERE comm;
