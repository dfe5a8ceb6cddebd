-- name: texts
SELECT n.name, s.text, coalesce(n.domain, -1), coalesce(d.text, '')
FROM (SELECT DISTINCT name, domain FROM host_event WHERE list_contains($kinds, kind)) n
JOIN string s ON s.id = n.name
LEFT JOIN string d ON d.id = n.domain
WHERE $pattern IS NULL OR regexp_matches(s.text, $pattern)
ORDER BY n.name, 3;

-- name: told
SELECT n.name, regexp_extract(s.text, $pattern, $first), regexp_extract(s.text, $pattern, $second),
       regexp_extract(s.text, $pattern, $third)
FROM (SELECT DISTINCT name FROM host_event WHERE list_contains($kinds, kind)) n
JOIN string s ON s.id = n.name
WHERE regexp_matches(s.text, $pattern)
ORDER BY n.name;

-- name: named
SELECT lane, name, start_ns, start_ns + dur_ns AS end_ns, open
FROM host_event
WHERE list_contains($kinds, kind) AND name IN (SELECT unnest($names::INTEGER[]))
  AND NOT list_contains($without::INTEGER[], coalesce(domain, -1))
ORDER BY lane, start_ns, end_ns DESC, id;
