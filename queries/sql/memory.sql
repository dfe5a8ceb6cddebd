-- name: pools
-- `allocated` and `reserved`: how many events tell the allocator's totals.
SELECT process, device, coalesce(host, false), count(*), min(time_ns), max(time_ns),
       count(allocated_bytes), count(reserved_bytes), count(*) FILTER (bytes > 0),
       coalesce(sum(bytes) FILTER (bytes > 0), 0)::BIGINT
FROM memory_event
GROUP BY ALL
ORDER BY coalesce(host, false), device NULLS LAST, process;

-- name: curve
-- The most in each bucket of time, and what was left at its end.
WITH event AS (
  SELECT time_ns, rowid AS row, reserved_bytes AS reserved,
         CASE WHEN $recorded THEN allocated_bytes
              ELSE sum(bytes) OVER (ORDER BY time_ns, rowid ROWS UNBOUNDED PRECEDING)
         END AS allocated
  FROM memory_event
  WHERE process IS NOT DISTINCT FROM $process AND device IS NOT DISTINCT FROM $device
    AND coalesce(host, false) = $host
)
SELECT least(((time_ns - $start) * $buckets) // $width, $buckets - 1)::BIGINT AS bucket,
       max(allocated)::BIGINT, arg_max(allocated, (time_ns, row))::BIGINT,
       max(reserved), arg_max(reserved, (time_ns, row))
FROM event
GROUP BY bucket
ORDER BY bucket;

-- name: peak
SELECT time_ns, row, allocated::BIGINT
FROM (
  SELECT time_ns, rowid AS row,
         CASE WHEN $recorded THEN allocated_bytes
              ELSE sum(bytes) OVER (ORDER BY time_ns, rowid ROWS UNBOUNDED PRECEDING)
         END AS allocated
  FROM memory_event
  WHERE process IS NOT DISTINCT FROM $process AND device IS NOT DISTINCT FROM $device
    AND coalesce(host, false) = $host
)
WHERE allocated IS NOT NULL
ORDER BY allocated DESC, time_ns, row
LIMIT 1;

-- name: live
-- What was allocated and not yet freed right after an event, by context; the last column is all.
SELECT last.node, sum(last.bytes)::BIGINT, count(*), sum(sum(last.bytes)) OVER ()::BIGINT
FROM (
  SELECT arg_max({'bytes': bytes, 'node': node}, (time_ns, rowid)) AS last
  FROM memory_event
  WHERE process IS NOT DISTINCT FROM $process AND device IS NOT DISTINCT FROM $device
    AND coalesce(host, false) = $host
    AND address IS NOT NULL AND (time_ns, rowid) <= ($time, $row)
  GROUP BY address
)
WHERE last.bytes > 0
GROUP BY last.node
ORDER BY sum(last.bytes) DESC, last.node
LIMIT $limit;

-- name: allocating
-- Bytes ever allocated, by context; the last column is all.
SELECT node, sum(bytes)::BIGINT, count(*), sum(sum(bytes)) OVER ()::BIGINT
FROM memory_event
WHERE process IS NOT DISTINCT FROM $process AND device IS NOT DISTINCT FROM $device
  AND coalesce(host, false) = $host AND bytes > 0
GROUP BY node
ORDER BY sum(bytes) DESC, node
LIMIT $limit;
