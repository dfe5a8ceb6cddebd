-- name: work
-- Communication kernels, by start. `op_stat` tells which names communicate.
SELECT o.id, o.device::INTEGER AS device, coalesce(l.process, -1)::INTEGER AS process, o.lane,
       o.start_ns, o.start_ns + o.dur_ns AS end_ns, coalesce(o.full_name, o.name) AS name,
       coalesce(o.collective, -1)::INTEGER AS collective, coalesce(o.op, -1)::INTEGER AS op,
       o.launch IS NOT NULL OR o.op IS NOT NULL AS linked
FROM gpu_op o
JOIN lane l ON l.id = o.lane
WHERE o.kind = $kernel AND o.device IS NOT NULL
  AND o.name IN (SELECT name FROM op_stat WHERE comm AND kind = $kernel
                 UNION ALL SELECT unnest($more::INTEGER[]))
ORDER BY o.start_ns, o.id;

-- name: launched
SELECT coalesce(h.start_ns, o.start_ns) AS at_ns
FROM gpu_op o
LEFT JOIN host_event h ON h.id = o.launch
WHERE o.id IN (SELECT unnest($ids::BIGINT[]))
ORDER BY o.id;

-- name: kernel_names
-- Names of kernels as events hold them, with the text that tells most.
SELECT DISTINCT o.name, s.text
FROM gpu_op o
JOIN string s ON s.id = coalesce(o.full_name, o.name)
WHERE o.kind = $kernel
ORDER BY o.name;

-- name: around
-- Arguments of host events and who is around them.
SELECT id, coalesce(parent, -1)::INTEGER AS parent, coalesce(collective, -1)::INTEGER AS collective
FROM host_event
WHERE id IN (SELECT unnest($ids::INTEGER[]))
ORDER BY id;

-- name: arguments
-- In id order: the table is written so.
SELECT coalesce(name, -1)::INTEGER AS name, coalesce(dtype, -1)::INTEGER AS dtype,
       coalesce(in_elements, -1) AS in_elements, coalesce(out_elements, -1) AS out_elements,
       coalesce(in_split, -1)::INTEGER AS in_split, coalesce(out_split, -1)::INTEGER AS out_split,
       coalesce(group_size, -1)::INTEGER AS group_size,
       coalesce(group_name, -1)::INTEGER AS group_name,
       coalesce(group_ranks, -1)::INTEGER AS group_ranks,
       coalesce(peer_source, -1)::INTEGER AS peer_source,
       coalesce(peer_target, -1)::INTEGER AS peer_target,
       coalesce(sequence, -1) AS sequence
FROM collective
ORDER BY id;

-- name: computation
-- Work of devices that hides communication: all but communication kernels and copies.
SELECT o.device::INTEGER AS device, o.start_ns, o.start_ns + o.dur_ns AS end_ns,
       coalesce(o.full_name, o.name) AS name,
       o.launch IS NOT NULL OR o.op IS NOT NULL AS linked
FROM gpu_op o
WHERE o.device IS NOT NULL AND NOT list_contains($other, o.kind)
ORDER BY o.device, o.start_ns;
