-- name: rows
SELECT
  l.lane,
  s.number,
  s.steps,
  s.start_ns,
  s.wall_ns,
  s.longest_ns,
  coalesce(s.cpu_ns, -1) AS cpu_ns,
  coalesce(s.host_gap_ns, -1) AS host_gap_ns,
  coalesce(s.faults, -1) AS faults,
  coalesce(s.switches, -1) AS switches,
  coalesce(s.rss_bytes, -1) AS rss_bytes,
  coalesce(s.device_peak_bytes, -1) AS device_peak_bytes,
  coalesce(s.gpu_busy_ns, -1) AS gpu_busy_ns,
  coalesce(s.copied_bytes, -1) AS copied_bytes
FROM step s
JOIN (SELECT process, min(id) AS lane FROM lane GROUP BY process) l USING (process)
ORDER BY s.process, s.number;
