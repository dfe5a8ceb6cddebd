-- name: work
-- Kernels, copies, memory sets and graph replays. `linked`: the launch or the operator is known.
SELECT o.id, o.kind, o.device::INTEGER AS device, o.lane, o.start_ns, o.start_ns + o.dur_ns AS end_ns,
       coalesce(o.full_name, o.name) AS name, coalesce(o.launch, -1)::INTEGER AS launch,
       coalesce(o.op, -1)::INTEGER AS op,
       coalesce(o.flow_linked, o.launch IS NOT NULL OR o.op IS NOT NULL) AS flow
FROM gpu_op o
WHERE o.device IS NOT NULL AND NOT list_contains($no_work, o.kind)
ORDER BY o.device, o.start_ns, o.id;

-- name: host
-- In id order: the table is written so.
SELECT kind, lane, start_ns, dur_ns, name, coalesce(parent, -1)::INTEGER AS parent,
       coalesce(args, -1)::INTEGER AS args, coalesce(sequence, -1) AS sequence,
       coalesce(forward, -1)::INTEGER AS forward
FROM host_event
ORDER BY id;

-- name: arguments
-- In id order: the table is written so.
SELECT coalesce(shapes, -1)::INTEGER AS shapes, coalesce(types, -1)::INTEGER AS types,
       coalesce(strides, -1)::INTEGER AS strides, coalesce(concrete, -1)::INTEGER AS concrete
FROM op_args
ORDER BY id;

-- name: streams
SELECT id, stream_id FROM lane WHERE stream_id IS NOT NULL ORDER BY id;
