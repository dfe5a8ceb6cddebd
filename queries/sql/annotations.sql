-- name: totals
SELECT count(*) FILTER (h.kind = $annotation), count(*) FILTER (h.kind = $range),
       count(*) FILTER (h.kind = $mark),
       count(*) FILTER (h.open AND h.kind <> $mark),
       count(DISTINCT h.name),
       count(DISTINCT h.lane) FILTER (l.kind <> $ranges_lane)
FROM host_event h
JOIN lane l ON l.id = h.lane
WHERE h.kind IN ($annotation, $range, $mark);

-- name: top
SELECT s.text, count(*), sum(h.dur_ns)::BIGINT
FROM host_event h
JOIN string s ON s.id = h.name
WHERE h.kind IN ($annotation, $range) AND NOT h.open
GROUP BY s.text
ORDER BY sum(h.dur_ns) DESC, s.text
LIMIT $limit;

-- name: spans
SELECT s.text, l.process, h.start_ns, h.start_ns + h.dur_ns
FROM host_event h
JOIN string s ON s.id = h.name
JOIN lane l ON l.id = h.lane
WHERE h.kind = $annotation
ORDER BY h.start_ns, h.id;
