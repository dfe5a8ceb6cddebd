-- name: overruns
-- GPU work that runs on when the next on its stream begins. Small overlaps are legal; what is meant
-- is long by itself and against others of its name.
WITH work AS (
  SELECT o.id, coalesce(o.full_name, o.name) AS name, o.start_ns, o.dur_ns,
         lead(o.start_ns) OVER (PARTITION BY o.lane ORDER BY o.start_ns, o.id) AS next_ns
  FROM gpu_op o
  WHERE NOT list_contains($no_work, o.kind)
), over AS (
  SELECT * FROM work WHERE dur_ns >= $long_ns AND start_ns + dur_ns > next_ns
), usual AS (
  SELECT name, median(dur_ns) AS dur_ns FROM work WHERE name IN (SELECT name FROM over) GROUP BY name
)
SELECT over.id, over.next_ns, over.start_ns + over.dur_ns - over.next_ns
FROM over JOIN usual USING (name)
WHERE over.dur_ns > $times * usual.dur_ns
ORDER BY over.id;

-- name: early
-- Work that begins before the call that launched it.
SELECT count(*), coalesce(max(h.start_ns - o.start_ns), 0)::BIGINT
FROM gpu_op o JOIN host_event h ON h.id = o.launch
WHERE o.start_ns < h.start_ns AND NOT list_contains($no_work, o.kind);

-- name: lengths
-- Work by whether its launch or operator is known, and work without length.
SELECT count(*) FILTER (o.launch IS NULL AND o.op IS NULL),
       coalesce(sum(o.dur_ns) FILTER (o.launch IS NULL AND o.op IS NULL), 0)::BIGINT,
       count(*), count(*) FILTER (o.dur_ns = 0), count(*) FILTER (o.recorded_dur_ns IS NOT NULL)
FROM gpu_op o
WHERE o.device IS NOT NULL AND NOT list_contains($no_work, o.kind);

-- name: graph_launches
-- Launches of a graph that ran fewer operations than others of the same graph.
WITH launches AS (
  SELECT graph, launch, count(*) AS ops, sum(dur_ns) AS ns
  FROM gpu_op
  WHERE graph IS NOT NULL AND launch IS NOT NULL AND kind <> $whole
  GROUP BY graph, launch
), most AS (SELECT graph, max(ops) AS ops FROM launches GROUP BY graph)
SELECT count(*) FILTER (launches.ops < most.ops), count(*),
       coalesce(sum(launches.ns) FILTER (launches.ops < most.ops), 0)::BIGINT
FROM launches JOIN most USING (graph);

-- name: work_starts
SELECT o.device::INTEGER AS device, o.start_ns
FROM gpu_op o
WHERE o.device IS NOT NULL AND NOT list_contains($no_work, o.kind)
ORDER BY o.device, o.start_ns;
