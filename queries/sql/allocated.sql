-- name: last_node
SELECT coalesce(max(node), 0) FROM path_memory;

-- name: contexts
-- Of one device, the contexts that took most themselves; the last column is what all took.
SELECT node, bytes, allocations, (sum(bytes) OVER ())::BIGINT
FROM path_memory
WHERE device IS NOT DISTINCT FROM $device AND bytes > 0
ORDER BY bytes DESC, node
LIMIT $limit;

-- name: kept
-- Of one device, the contexts that took more than was given back while they ran.
SELECT node, bytes - freed_bytes, allocations, (sum(bytes - freed_bytes) OVER ())::BIGINT
FROM path_memory
WHERE device IS NOT DISTINCT FROM $device AND bytes > freed_bytes
ORDER BY bytes - freed_bytes DESC, node
LIMIT $limit;

-- name: below
SELECT device, sum(allocations)::BIGINT, sum(bytes)::BIGINT, sum(freed_bytes)::BIGINT,
       max(peak_bytes)
FROM path_memory
WHERE node BETWEEN $node AND $last
GROUP BY device
ORDER BY device NULLS FIRST;
