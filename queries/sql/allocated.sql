-- name: below
SELECT device, sum(allocations)::BIGINT, sum(bytes)::BIGINT, sum(freed_bytes)::BIGINT,
       max(peak_bytes)
FROM path_memory
WHERE node BETWEEN $node AND $last
GROUP BY device
ORDER BY device NULLS FIRST;
