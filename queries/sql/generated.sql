-- name: text
SELECT t.text
FROM source_file f
JOIN string p ON p.id = f.file
JOIN string t ON t.id = f.text
WHERE p.text = $file;

-- name: origin
SELECT n.text, o.text
FROM source_origin g
JOIN string p ON p.id = g.file
JOIN string n ON n.id = g.nodes
JOIN string o ON o.id = g.operators
WHERE p.text = $file AND g.line = $line;
