-- name: columns
SELECT t.table_type = 'VIEW' AS is_view, c.table_name, c.column_name, c.data_type
FROM information_schema.columns c
JOIN information_schema.tables t USING (table_catalog, table_schema, table_name)
WHERE c.table_catalog = current_database() AND c.table_schema = 'main'
ORDER BY is_view DESC, c.table_name, c.ordinal_position;

-- name: counts
-- Exact: nobody changes a store.
SELECT table_name, estimated_size FROM duckdb_tables()
WHERE database_name = current_database() AND schema_name = 'main';
