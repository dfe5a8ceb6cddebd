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

-- name: context_names
SELECT id, text FROM string
WHERE text LIKE 'nn.Module: %' OR text LIKE 'ProfilerStep#%' OR text LIKE 'Optimizer.step#%'
   OR text LIKE 'autograd::engine::evaluate_function: %' OR regexp_full_match(text, '.*Backward[0-9]*')
   OR (text LIKE '%torch/utils/checkpoint.py%' AND text LIKE '%recompute_fn%');

-- name: modules
SELECT n.id, n.last, s.text, coalesce(m.calls, 0), coalesce(m.host_dur_sum_ns, 0)
FROM path_node n
JOIN frame f ON f.id = n.frame AND f.layer = $layer
JOIN string s ON s.id = f.name
LEFT JOIN path_metric m ON m.node = n.id AND m.device IS NULL
ORDER BY n.id;

-- name: module_gpu
SELECT n.id, t.gpu_ns
FROM path_node n
JOIN frame f ON f.id = n.frame AND f.layer = $layer
JOIN path_total t ON t.node = n.id AND t.device = $device
WHERE t.gpu_ns IS NOT NULL;

-- name: module_calls
SELECT h.node, h.lane, h.start_ns, h.dur_ns
FROM host_event h
JOIN path_node n ON n.id = h.node
JOIN frame f ON f.id = n.frame AND f.layer = $layer
ORDER BY h.id;

-- name: work_nodes
-- In id order: the table is written so.
SELECT coalesce(node, -1)::INTEGER AS node FROM gpu_op ORDER BY id;
