-- name: rows
-- Samples of other devices are left out; those of an unknown one belong to any.
SELECT m.text, f.text, i.offset_bytes, t.text, p.text, i.line, r.text, sum(w.samples)::BIGINT,
       CASE WHEN count(w.not_issued) = count(*) THEN sum(w.not_issued)::BIGINT END,
       bool_or(w.spread)
FROM stall w
JOIN instruction i ON i.id = w.instruction
LEFT JOIN string m ON m.id = i.module
LEFT JOIN string f ON f.id = i.function
LEFT JOIN string t ON t.id = i.text
LEFT JOIN string p ON p.id = i.file
LEFT JOIN string r ON r.id = w.reason
WHERE i.kernel = $kernel
  AND ($device IS NULL OR w.device IS NULL OR w.device = $device)
  AND ($first IS NULL OR w.node BETWEEN $first AND $last)
GROUP BY i.id, m.text, f.text, i.offset_bytes, t.text, p.text, i.line, r.text
ORDER BY i.id, r.text;

-- name: kernels
SELECT i.kernel, sum(w.samples)::BIGINT
FROM stall w
JOIN instruction i ON i.id = w.instruction
GROUP BY i.kernel
ORDER BY i.kernel;
