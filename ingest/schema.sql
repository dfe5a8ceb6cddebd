-- The store. One calling context tree over one event store, whatever recorded it.
-- Times are int64 ns from the trace's start; the absolute base is in `trace`.
-- No keys or indexes: they cost more to build than the range scans they would save.
-- Ids are dense and equal to the row's position; sort orders stated below are relied on.

-- Facts about the capture: source_path, source_size_bytes, source_mtime_ns, format, producer,
-- producer_version, schema_version, store_version, duckdb_version, reader, span_ns (last end),
-- start_utc_ns (empty when not known), gpu_window_start_ns, gpu_window_end_ns,
-- rows.<table> = used.<table> + sum of unused.<table>.<reason>; orphans.<kind>;
-- bad_time.<table>, bad_value.<table> and open_range.<table> (used, but corrected);
-- payload_<reason>.<table> (used, but without its payload);
-- option.<name>, host.<fact>; complete (1: the store was written to the end).
CREATE TABLE trace (key VARCHAR PRIMARY KEY, value VARCHAR NOT NULL);

-- What the user should know about the capture or the import. Severity: see severity_name.
CREATE TABLE note (severity UTINYINT NOT NULL, source VARCHAR NOT NULL, text VARCHAR NOT NULL);

CREATE TABLE string (id INTEGER NOT NULL, text VARCHAR NOT NULL);

CREATE TABLE process (
  id SMALLINT NOT NULL,
  global_pid UBIGINT,              -- as the source gives it
  pid INTEGER,
  name VARCHAR NOT NULL,
  rank INTEGER                     -- NULL when not known
);

CREATE TABLE device (
  id SMALLINT NOT NULL,
  ordinal INTEGER NOT NULL,        -- CUDA device id inside its process
  process SMALLINT,                -- set when the ordinal is only known per process
  gpu_id INTEGER,                  -- id of the physical GPU, when recorded
  name VARCHAR NOT NULL,
  label VARCHAR,                   -- what to call it; NULL: `GPU <ordinal>`
  uuid VARCHAR,
  sm_count INTEGER,
  clock_hz BIGINT,
  memory_bytes BIGINT,
  bandwidth_bytes_per_s BIGINT,
  compute_major INTEGER,
  compute_minor INTEGER,
  assumed BOOLEAN NOT NULL         -- identity guessed from the ordinal
);

-- A thread, a stream, or a process' start-end ranges.
CREATE TABLE lane (
  id INTEGER NOT NULL,
  kind UTINYINT NOT NULL,          -- lane_kind_name
  process SMALLINT,
  device SMALLINT,                 -- streams only
  tid BIGINT,                      -- threads only
  context_id BIGINT,               -- streams only
  green_context_id BIGINT,
  stream_id BIGINT,
  name VARCHAR NOT NULL
);

-- Sorted by (kind, lane, start_ns).
CREATE TABLE host_event (
  id INTEGER NOT NULL,
  kind UTINYINT NOT NULL,          -- host_kind_name
  lane INTEGER NOT NULL,
  start_ns BIGINT NOT NULL,
  dur_ns BIGINT NOT NULL,
  self_ns BIGINT,                  -- events of the call tree only
  name INTEGER NOT NULL,           -- string, as recorded (frames hold the normalised one)
  domain INTEGER,                  -- string: NVTX domain name
  parent INTEGER,                  -- host_event
  depth SMALLINT,
  correlation BIGINT,
  node INTEGER,                    -- path_node; NULL outside the call tree
  result INTEGER,                  -- return value of an API call
  args INTEGER,                    -- op_args
  sequence BIGINT,                 -- autograd sequence number
  forward INTEGER,                 -- host_event: the forward operator of a backward one
  collective INTEGER,              -- collective
  open BOOLEAN NOT NULL            -- no end was recorded: the trace's end is used
);

-- Structured payloads of annotations (NVTX), by event. Sorted by event.
CREATE TABLE event_payload (
  event INTEGER NOT NULL,          -- host_event
  json INTEGER NOT NULL            -- string: the payload as JSON
);

-- Launch shapes, interned: many launches share few of them.
CREATE TABLE launch_config (
  id INTEGER NOT NULL,
  grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,
  block_x INTEGER, block_y INTEGER, block_z INTEGER,
  registers_per_thread INTEGER,
  static_shared_bytes INTEGER,
  dynamic_shared_bytes INTEGER,
  local_bytes_per_thread INTEGER,
  shared_bytes INTEGER,            -- per block, where only the sum is recorded
  blocks_per_sm DOUBLE,
  warps_per_sm DOUBLE,
  occupancy_percent DOUBLE         -- as the profiler estimated it
);

-- Arguments of operators and calls, interned: shapes, types, strides and scalars as JSON lists as
-- the profiler wrote them; what has no column of its own is one JSON object. Ids of string.
CREATE TABLE op_args (
  id INTEGER NOT NULL,
  shapes INTEGER,
  types INTEGER,
  strides INTEGER,
  concrete INTEGER,
  other INTEGER
);

-- What a collective operation was called with, interned; `sequence` included.
CREATE TABLE collective (
  id INTEGER NOT NULL,
  name INTEGER,                    -- string: allreduce, _allgather_base …
  dtype INTEGER,                   -- string
  in_elements BIGINT,
  out_elements BIGINT,
  in_split INTEGER,                -- string: list of split sizes
  out_split INTEGER,
  group_size INTEGER,
  group_name INTEGER,              -- string
  group_description INTEGER,       -- string
  group_ranks INTEGER,             -- string: list of ranks
  rank INTEGER,
  peer_source INTEGER,             -- rank
  peer_target INTEGER,             -- rank
  sequence BIGINT
);

-- Sorted by (kind, lane, start_ns).
CREATE TABLE gpu_op (
  id INTEGER NOT NULL,
  kind UTINYINT NOT NULL,          -- gpu_kind_name
  device SMALLINT,                 -- NULL: a wait that does not tell it
  lane INTEGER NOT NULL,
  start_ns BIGINT NOT NULL,
  dur_ns BIGINT NOT NULL,
  name INTEGER NOT NULL,           -- string: short kernel name, "memcpy HtoD", …
  full_name INTEGER,               -- string: demangled name
  correlation BIGINT,
  launch INTEGER,                  -- host_event; NULL: the launch is not in the trace
  node INTEGER,                    -- path_node; NULL for synchronisation
  config INTEGER,                  -- launch_config
  bytes BIGINT,
  graph_node BIGINT,
  graph BIGINT,
  op INTEGER,                      -- host_event: the operator that launched it
  args INTEGER,                    -- op_args
  collective INTEGER,              -- collective
  recorded_dur_ns BIGINT,          -- where that is impossible: dur_ns was cut
  flow_linked BOOLEAN              -- a flow of the recording (ac2g) leads here; NULL: it keeps none
);

-- The context in which a node of a CUDA graph was created, or the first node it was cloned from:
-- gpu_op.graph_node of that process was captured there.
CREATE TABLE graph_site (
  process SMALLINT,
  graph_node BIGINT NOT NULL,
  node INTEGER NOT NULL            -- path_node
);

-- A frame is what a calling context adds to its parent.
CREATE TABLE frame (
  id INTEGER NOT NULL,
  layer UTINYINT NOT NULL,         -- layer_name
  name INTEGER NOT NULL,           -- string
  file INTEGER,                    -- string: source file, module, or NVTX domain
  line INTEGER
);

-- The calling context tree in pre-order: the subtree of a node is [id, last].
CREATE TABLE path_node (
  id INTEGER NOT NULL,
  parent INTEGER,                  -- NULL for the root (id 0)
  depth SMALLINT NOT NULL,
  frame INTEGER NOT NULL,
  last INTEGER NOT NULL
);

-- What a context cost itself (exclusive). Host rows have device NULL, GPU rows name theirs.
CREATE TABLE path_metric (
  node INTEGER NOT NULL,
  device SMALLINT,
  calls BIGINT,                    -- host events of the node
  launches BIGINT,                 -- of them, kernel or graph launches
  host_ns BIGINT,                  -- self time on the thread
  host_dur_min_ns BIGINT,          -- of the events' own durations
  host_dur_max_ns BIGINT,
  host_dur_sum_ns BIGINT,
  host_dur_sumsq DOUBLE,
  samples BIGINT,
  gpu_ops BIGINT,                  -- kernels, copies, memsets, graph replays
  kernels BIGINT,
  gpu_ns BIGINT,
  gpu_min_ns BIGINT,
  gpu_max_ns BIGINT,
  gpu_sumsq DOUBLE,
  bytes BIGINT
);

-- The same over the whole subtree (inclusive), NULL where nothing was measured.
CREATE TABLE path_total (
  node INTEGER NOT NULL,
  device SMALLINT,                 -- NULL for the host rows
  launches BIGINT,
  host_ns BIGINT,
  samples BIGINT,
  gpu_ops BIGINT,
  kernels BIGINT,
  gpu_ns BIGINT,
  bytes BIGINT
);

-- Contexts as a profile file holds them (Proton), exclusive, in its order: a parent comes before its
-- children. Siblings of one name, told apart here, are one path_node, where their values are added.
CREATE TABLE profile_context (
  id INTEGER NOT NULL,
  parent INTEGER,                  -- profile_context; NULL for the root (id 0)
  node INTEGER NOT NULL,           -- path_node
  device SMALLINT,                 -- NULL for host rows
  calls BIGINT,                    -- columns of path_metric, NULL where nothing was measured
  host_ns BIGINT,
  gpu_ops BIGINT,
  kernels BIGINT,
  gpu_ns BIGINT,
  bytes BIGINT
);

-- Training steps as a recording counted them, where single events are not kept. By process, in
-- order; neighbours are one row where there were many. NULL: not recorded.
CREATE TABLE step (
  process SMALLINT NOT NULL,
  number BIGINT NOT NULL,          -- of the first step of the row, from 0
  steps BIGINT NOT NULL,           -- in the row
  start_ns BIGINT NOT NULL,
  end_ns BIGINT NOT NULL,          -- pauses of the recording between the steps included
  wall_ns BIGINT NOT NULL,         -- of the steps, without these
  longest_ns BIGINT NOT NULL,
  cpu_ns BIGINT,                   -- CPU time of all threads of the process
  host_gap_ns BIGINT,              -- Python time before events, on the thread that ended the steps
  faults BIGINT,                   -- page faults
  switches BIGINT,                 -- context switches
  rss_bytes BIGINT,                -- greatest resident memory at the end of a step
  gpu_busy_ns BIGINT,              -- union of kernels and graph replays in the steps, summed over GPUs
  device_peak_bytes BIGINT,        -- most that torch's allocator had in use of one GPU
  copied_bytes BIGINT              -- by GPUs, in copies that began in the steps
);

-- Further metrics of a context (exclusive) that an aggregated profile recorded: flops, cycles,
-- sampled stalls, the program's own.
CREATE TABLE path_value (
  node INTEGER NOT NULL,
  context INTEGER,                 -- profile_context, where the file tells contexts of a node apart
  device SMALLINT,
  name INTEGER NOT NULL,           -- string
  value DOUBLE NOT NULL,
  property BOOLEAN NOT NULL        -- of the context: not to be summed up
);

-- What contexts were called with, where calls were summed up as they ran. Sorted by node.
CREATE TABLE path_args (
  node INTEGER NOT NULL,           -- path_node
  args INTEGER,                    -- op_args; NULL: with further ones that are not told apart
  calls BIGINT NOT NULL,           -- 0: no call of the host, only what an operation of a device is
  host_dur_sum_ns BIGINT NOT NULL  -- of the calls, from begin to end
);

-- How kernels were launched, where their work was summed up as it ran: the shape is that of the first
-- launch of a row of the recording. Sorted by node.
CREATE TABLE path_config (
  node INTEGER NOT NULL,           -- path_node of the kernel
  device SMALLINT NOT NULL,
  name INTEGER NOT NULL,           -- string: as op_stat.name has it
  config INTEGER NOT NULL,         -- launch_config
  count BIGINT NOT NULL,           -- launches
  sum_ns BIGINT NOT NULL,          -- GPU time of them
  unseen BIGINT NOT NULL           -- of them, launches whose own shape was not kept
);

-- Memory that contexts took and gave back (exclusive), where it was summed up as they ran. Sorted by
-- node.
CREATE TABLE path_memory (
  node INTEGER NOT NULL,           -- path_node
  device INTEGER,                  -- number of the GPU in its process; NULL: memory of the host
  allocations BIGINT NOT NULL,
  bytes BIGINT NOT NULL,           -- of the allocations
  freed_bytes BIGINT NOT NULL,     -- given back while the context ran, whoever took it
  peak_bytes BIGINT NOT NULL       -- the most the allocator had in use after an allocation here
);

-- Files of code that was generated while the program ran (torch.compile), kept with the trace.
CREATE TABLE source_file (
  file INTEGER NOT NULL,           -- string: as frame.file has it
  text INTEGER NOT NULL            -- string
);

-- What lines of generated code were made from.
CREATE TABLE source_origin (
  file INTEGER NOT NULL,           -- string: as frame.file has it
  line INTEGER NOT NULL,
  nodes INTEGER NOT NULL,          -- string: names in the graph of the program
  operators INTEGER NOT NULL       -- string: operators before compiling
);

-- A sampled place in a kernel: an instruction, or as much of it as the recording tells.
CREATE TABLE instruction (
  id INTEGER NOT NULL,
  kernel INTEGER NOT NULL,         -- string: as gpu_op.name and op_stat.name have it
  module INTEGER,                  -- string: code object, or CRC of the cubin
  function INTEGER,                -- string: function of the module, as it names it
  offset_bytes BIGINT,             -- from the function's start, or from the module's
  text INTEGER,                    -- string: the instruction
  file INTEGER,                    -- string: source file
  line INTEGER
);

-- Samples of the warps at an instruction. Exclusive; sorted by instruction.
CREATE TABLE stall (
  instruction INTEGER NOT NULL,
  node INTEGER,                    -- path_node of the kernel's context; NULL: not known
  device SMALLINT,                 -- NULL: not known
  reason INTEGER,                  -- string: what was waited for, `selected`: it was issued;
                                   -- NULL: recorded without reasons
  samples BIGINT NOT NULL,
  not_issued BIGINT,               -- of them, when the scheduler issued nothing; NULL: not known
  spread BOOLEAN NOT NULL          -- of the kernel in all contexts, shared out by their GPU time
);

-- GPU work by device, kind and name: the Kernels view and the first screen read it.
CREATE TABLE op_stat (
  device SMALLINT NOT NULL,
  kind UTINYINT NOT NULL,          -- gpu_kind_name
  name INTEGER NOT NULL,           -- string
  comm BOOLEAN NOT NULL,           -- a communication kernel (NCCL, RCCL, all-reduce …)
  count BIGINT NOT NULL,
  sum_ns BIGINT NOT NULL,
  min_ns BIGINT,                   -- NULL here and in the next two: only the sum was recorded
  max_ns BIGINT,
  sumsq DOUBLE,
  bytes BIGINT
);

-- Split of a device's window, from its first start to its last end: compute (memory sets are),
-- exposed communication, exposed copies, idle. The four classes sum to the window exactly.
CREATE TABLE device_time (device SMALLINT NOT NULL, class UTINYINT NOT NULL, ns BIGINT NOT NULL);

-- Union of kernels and graph replays of a device: GPU busy time.
CREATE TABLE device_busy (
  device SMALLINT NOT NULL,
  busy_ns BIGINT NOT NULL,
  kernel_count BIGINT NOT NULL,
  kernel_sum_ns BIGINT NOT NULL,
  first_ns BIGINT,                 -- of its kernels and graph replays
  last_ns BIGINT
);

-- Sorted by (lane, time_ns).
CREATE TABLE cpu_sample (
  lane INTEGER NOT NULL,
  time_ns BIGINT NOT NULL,
  node INTEGER,
  weight BIGINT NOT NULL,          -- cpu cycles when recorded, else 1
  cpu INTEGER
);

CREATE TABLE sched_interval (
  lane INTEGER NOT NULL,
  start_ns BIGINT NOT NULL,
  dur_ns BIGINT NOT NULL,
  cpu INTEGER
);

-- Sorted by time_ns.
CREATE TABLE memory_event (
  device SMALLINT,                 -- NULL: memory of the host, or not recorded (see `host`)
  process SMALLINT,
  lane INTEGER,                    -- thread that allocated or freed
  time_ns BIGINT NOT NULL,
  bytes BIGINT NOT NULL,           -- negative: freed
  address UBIGINT,
  kind INTEGER,                    -- memory kind as CUPTI numbers them
  host BOOLEAN,                    -- true: memory of the host
  allocated_bytes BIGINT,          -- the allocator's total in use, after the event
  reserved_bytes BIGINT,           -- the allocator's total taken from the device
  node INTEGER                     -- path_node that was running
);

CREATE TABLE counter (
  device SMALLINT,
  name INTEGER NOT NULL,           -- string
  time_ns BIGINT NOT NULL,
  value DOUBLE                     -- NULL: the recorded value was impossible
);

-- Flows of a Chrome trace: arrows between events of threads. Those that only repeat which call
-- launched which GPU work (ac2g) are not kept, see gpu_op.launch. Sorted by (flow, time_ns).
CREATE TABLE flow (
  flow INTEGER NOT NULL,           -- the points of one arrow share it
  phase UTINYINT NOT NULL,         -- flow_phase_name
  lane INTEGER NOT NULL,
  time_ns BIGINT NOT NULL,
  name INTEGER NOT NULL,           -- string
  category INTEGER,                -- string
  event INTEGER                    -- host_event: the innermost one around the point
);

-- Names of the codes, filled from the one list of them.
CREATE TABLE host_kind_name (code UTINYINT NOT NULL, name VARCHAR NOT NULL);
CREATE TABLE gpu_kind_name (code UTINYINT NOT NULL, name VARCHAR NOT NULL);
CREATE TABLE layer_name (code UTINYINT NOT NULL, name VARCHAR NOT NULL);
CREATE TABLE lane_kind_name (code UTINYINT NOT NULL, name VARCHAR NOT NULL);
CREATE TABLE gpu_class_name (code UTINYINT NOT NULL, name VARCHAR NOT NULL);
CREATE TABLE flow_phase_name (code UTINYINT NOT NULL, name VARCHAR NOT NULL);
CREATE TABLE severity_name (code UTINYINT NOT NULL, name VARCHAR NOT NULL);

-- Readable faces of the tables, for `dctx sql`.
CREATE VIEW kernels AS
  SELECT o.id, o.device, d.name AS model, p.pid, p.rank, l.name AS stream,
         s.text AS name, f.text AS full_name,
         o.start_ns, o.dur_ns, c.* EXCLUDE (id), o.correlation, o.launch, o.node
  FROM gpu_op o
  LEFT JOIN device d ON d.id = o.device
  JOIN lane l ON l.id = o.lane
  LEFT JOIN process p ON p.id = l.process
  JOIN string s ON s.id = o.name
  LEFT JOIN string f ON f.id = o.full_name
  LEFT JOIN launch_config c ON c.id = o.config
  WHERE o.kind = 0;

-- Launches by shape, whether single ones are kept or were summed up as they ran.
CREATE VIEW launched AS
  SELECT node, device, kind, name, config, 1::BIGINT AS count, dur_ns AS sum_ns, 0::BIGINT AS unseen
  FROM gpu_op
  WHERE config IS NOT NULL
  UNION ALL
  SELECT node, device, 0::UTINYINT, name, config, count, sum_ns, unseen
  FROM path_config;

CREATE VIEW host_events AS
  SELECT h.id, k.name AS kind, p.pid, p.rank, l.name AS thread, s.text AS name,
         h.start_ns, h.dur_ns, h.self_ns, h.parent, h.depth, h.correlation, h.node
  FROM host_event h
  JOIN host_kind_name k ON k.code = h.kind
  JOIN lane l ON l.id = h.lane
  LEFT JOIN process p ON p.id = l.process
  JOIN string s ON s.id = h.name;

CREATE VIEW stalls AS
  SELECT k.text AS kernel, m.text AS module, f.text AS function, i.offset_bytes,
         t.text AS instruction, p.text AS file, i.line, w.node, w.device, r.text AS reason,
         w.samples, w.not_issued, w.spread
  FROM stall w
  JOIN instruction i ON i.id = w.instruction
  JOIN string k ON k.id = i.kernel
  LEFT JOIN string m ON m.id = i.module
  LEFT JOIN string f ON f.id = i.function
  LEFT JOIN string t ON t.id = i.text
  LEFT JOIN string p ON p.id = i.file
  LEFT JOIN string r ON r.id = w.reason;

CREATE VIEW paths AS
  SELECT n.id, n.parent, n.depth, y.name AS layer, s.text AS name, m.text AS file, f.line,
         t.gpu_ns, t.kernels, t.host_ns, t.launches, t.samples
  FROM path_node n
  JOIN frame f ON f.id = n.frame
  JOIN layer_name y ON y.code = f.layer
  JOIN string s ON s.id = f.name
  LEFT JOIN string m ON m.id = f.file
  LEFT JOIN (SELECT node, sum(gpu_ns) AS gpu_ns, sum(kernels) AS kernels, sum(host_ns) AS host_ns,
                    sum(launches) AS launches, sum(samples) AS samples
             FROM path_total GROUP BY node) t ON t.node = n.id;
