-- Statements for the SQL view, each a question that people ask of any trace. The first line of a
-- block is its name; comments in it say what it tells.

-- name: kernels by time
-- Which kernels take the GPU's time.
SELECT name, count(*) AS launches, sum(dur_ns) / 1e6 AS total_ms, avg(dur_ns) / 1e3 AS mean_us,
       min(dur_ns) / 1e3 AS min_us, max(dur_ns) / 1e3 AS max_us
FROM kernels GROUP BY name ORDER BY total_ms DESC, name;

-- name: longest launches
-- The single launches that took longest, and when.
SELECT name, device, stream, start_ns / 1e6 AS start_ms, dur_ns / 1e3 AS dur_us
FROM kernels ORDER BY dur_ns DESC, start_ns LIMIT 200;

-- name: kernels that vary most
-- Names whose launches differ: other shapes, other clocks, or waiting inside the kernel.
SELECT name, count(*) AS launches, avg(dur_ns) / 1e3 AS mean_us,
       quantile_cont(dur_ns, 0.5) / 1e3 AS p50_us, quantile_cont(dur_ns, 0.99) / 1e3 AS p99_us,
       stddev_samp(dur_ns) / avg(dur_ns) AS variation
FROM kernels GROUP BY name HAVING count(*) > 9 AND avg(dur_ns) > 0
ORDER BY variation DESC, name;

-- name: small kernels
-- Kernels under 5 us: each costs about as much to launch; candidates for fusion or graphs.
SELECT name, count(*) AS launches, sum(dur_ns) / 1e6 AS total_ms, avg(dur_ns) / 1e3 AS mean_us
FROM kernels GROUP BY name HAVING avg(dur_ns) < 5000 ORDER BY launches DESC, name;

-- name: work by stream
-- How the work is spread over GPUs and streams.
SELECT device, stream, count(*) AS launches, sum(dur_ns) / 1e6 AS total_ms,
       min(start_ns) / 1e6 AS first_ms, max(start_ns + dur_ns) / 1e6 AS last_ms
FROM kernels GROUP BY device, stream ORDER BY device, total_ms DESC;

-- name: copies
-- Copies and memsets by name: how often, how much, how fast.
SELECT s.text AS name, k.name AS kind, o.device, count(*) AS times, sum(o.dur_ns) / 1e6 AS total_ms,
       sum(o.bytes) / 1e6 AS megabytes, sum(o.bytes) / nullif(sum(o.dur_ns), 0) AS gb_per_s
FROM gpu_op o JOIN gpu_kind_name k ON k.code = o.kind JOIN string s ON s.id = o.name
WHERE k.name IN ('memcpy', 'memset') GROUP BY ALL ORDER BY total_ms DESC, name;

-- name: longest pauses of each GPU
-- Where nothing runs on a GPU: from the end of all work before to the start of the next.
WITH work AS (
  SELECT device, start_ns, dur_ns, name,
         max(start_ns + dur_ns) OVER (PARTITION BY device ORDER BY start_ns, dur_ns
           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
  FROM (SELECT o.device, o.start_ns, o.dur_ns, s.text AS name
        FROM gpu_op o JOIN gpu_kind_name k ON k.code = o.kind JOIN string s ON s.id = o.name
        WHERE k.name IN ('kernel', 'memcpy', 'memset', 'graph')))
SELECT device, before_ns / 1e6 AS from_ms, (start_ns - before_ns) / 1e3 AS pause_us,
       name AS then_runs
FROM work WHERE start_ns > before_ns ORDER BY pause_us DESC LIMIT 200;

-- name: host events by time
-- What threads do, by the time that is their own and not of what they call.
SELECT kind, name, count(*) AS calls, sum(self_ns) / 1e6 AS own_ms, sum(dur_ns) / 1e6 AS total_ms,
       max(dur_ns) / 1e3 AS max_us
FROM host_events GROUP BY kind, name ORDER BY own_ms DESC, name;

-- name: busiest threads
-- Threads by the time they spend in recorded calls.
SELECT pid, thread, count(*) AS events, sum(self_ns) / 1e6 AS own_ms,
       min(start_ns) / 1e6 AS first_ms, max(start_ns + dur_ns) / 1e6 AS last_ms
FROM host_events GROUP BY pid, thread ORDER BY own_ms DESC;

-- name: call paths by GPU time
-- Contexts of the program with all that they launch.
SELECT id, depth, layer, name, file, line, gpu_ns / 1e6 AS gpu_ms, kernels, host_ns / 1e6 AS host_ms
FROM paths ORDER BY gpu_ns DESC NULLS LAST, id LIMIT 500;

-- name: source files by GPU time of their lines
-- Which lines of which files are on the way to GPU work. Lines contain each other.
SELECT file, line, name, sum(gpu_ns) / 1e6 AS gpu_ms, sum(launches) AS launches
FROM paths WHERE line IS NOT NULL GROUP BY ALL ORDER BY gpu_ms DESC NULLS LAST, file, line;

-- name: launch latency
-- From the start of the call that launched it to the start of the kernel, by kernel.
SELECT k.name, count(*) AS launches, avg(k.start_ns - h.start_ns) / 1e3 AS mean_us,
       quantile_cont(k.start_ns - h.start_ns, 0.99) / 1e3 AS p99_us
FROM kernels k JOIN host_events h ON h.id = k.launch GROUP BY k.name ORDER BY mean_us DESC, k.name;

-- name: what was recorded
-- Facts about the capture.
SELECT * FROM trace ORDER BY key;

-- name: remarks of the reader
-- What was lost, repaired or left out while the trace was read.
SELECT * FROM note;
