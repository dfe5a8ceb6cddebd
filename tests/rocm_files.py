"""Small files of the ROCm profilers, written by the tests: the layouts of rocpd, RPD and JSON."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

GUID = "_0000000a_00bc_7000_8000_0000000000ff"
SECRET = "TOKEN=do-not-show-this"

_ROCPD = {
    "metadata": "tag TEXT, value TEXT",
    "string": "string TEXT",
    "info_node": "machine_id TEXT, hostname TEXT",
    "info_process": "nid INT, pid INT, start INT, end INT, command TEXT, environment TEXT",
    "info_thread": "nid INT, pid INT, tid INT, name TEXT",
    "info_agent": "type TEXT, absolute_index INT, type_index INT, name TEXT, product_name TEXT,"
    " extdata TEXT",
    "info_kernel_symbol": "kernel_name TEXT, display_name TEXT, arch_vgpr_count INT",
    "info_pmc": "name TEXT, symbol TEXT",
    "event": "category_id INT, stack_id INT, parent_stack_id INT, correlation_id INT, extdata TEXT",
    "region": "nid INT, pid INT, tid INT, start INT, end INT, name_id INT, event_id INT",
    "kernel_dispatch": "nid INT, pid INT, tid INT, agent_id INT, kernel_id INT, queue_id INT,"
    " stream_id INT, start INT, end INT, private_segment_size INT, group_segment_size INT,"
    " workgroup_size_x INT, workgroup_size_y INT, workgroup_size_z INT,"
    " grid_size_x INT, grid_size_y INT, grid_size_z INT, event_id INT",
    "memory_copy": "nid INT, pid INT, tid INT, start INT, end INT, name_id INT, dst_agent_id INT,"
    " src_agent_id INT, size INT, queue_id INT, stream_id INT, event_id INT",
    "memory_allocate": "nid INT, pid INT, tid INT, agent_id INT, type TEXT, level TEXT, start INT,"
    " end INT, address INT, size INT, event_id INT",
    "pmc_event": "event_id INT, pmc_id INT, value REAL",
    "sample": "track_id INT, timestamp INT, event_id INT",
}


class Rocpd:
    """A rocpd database with one process (id 7, pid 4242) on a CPU (agent 1) and GPUs 4 and 5."""

    def __init__(self, path: Path, guid: str = GUID, pid: int = 4242, machine: str = "m1") -> None:
        self._connection = sqlite3.connect(path)
        self._guid = guid
        self._strings: dict[str, int] = {}
        for name, columns in _ROCPD.items():
            self._connection.execute(
                f'CREATE TABLE "rocpd_{name}{guid}" (id INTEGER PRIMARY KEY, {columns})'
            )
            view = f"CREATE VIEW IF NOT EXISTS rocpd_{name} AS SELECT * FROM rocpd_{name}{guid}"
            self._connection.execute(view)
        self.add("metadata", tag="schema_version", value="3")
        self.add("info_node", id=1, machine_id=machine, hostname="host")
        self.add(
            "info_process",
            id=7,
            nid=1,
            pid=pid,
            command="/usr/bin/python3 train.py --key=abc",
            environment=SECRET,
        )
        self.add("info_thread", id=70, nid=1, pid=7, tid=pid, name=None)
        self.add("info_thread", id=71, nid=1, pid=7, tid=pid + 1, name="loader")
        self.add("info_agent", id=1, type="CPU", absolute_index=0, type_index=0, name="CPU")
        for number in (4, 5):
            self.add(
                "info_agent",
                id=number,
                type="GPU",
                absolute_index=number,
                type_index=number - 4,
                name="gfx942",
                product_name="AMD Instinct MI300X",
                extdata='{"cu_count": 304, "max_engine_clk_fcompute": 2100}',
            )

    def add(self, table: str, **columns: Any) -> int:
        """Insert a row; returns its id."""
        names = ", ".join(columns)
        marks = ", ".join("?" * len(columns))
        cursor = self._connection.execute(
            f'INSERT INTO "rocpd_{table}{self._guid}" ({names}) VALUES ({marks})',
            list(columns.values()),
        )
        return int(cursor.lastrowid or 0)

    def text(self, text: str) -> int:
        """Id of a text."""
        if text not in self._strings:
            self._strings[text] = self.add("string", string=text)
        return self._strings[text]

    def event(self, category: str, stack: int, parent: int = 0, message: str = "") -> int:
        """Id of an event; correlation ids are 0, as rocprofv3 writes them."""
        return self.add(
            "event",
            category_id=self.text(category),
            stack_id=stack,
            parent_stack_id=parent,
            correlation_id=0,
            extdata=json.dumps({"message": message}) if message else "{}",
        )

    def region(
        self,
        name: str,
        start: int,
        end: int,
        stack: int,
        *,
        category: str = "HIP_RUNTIME_API_EXT",
        parent: int = 0,
        tid: int = 70,
        message: str = "",
    ) -> None:
        self.add(
            "region",
            nid=1,
            pid=7,
            tid=tid,
            start=start,
            end=end,
            name_id=self.text(name),
            event_id=self.event(category, stack, parent, message),
        )

    def kernel(
        self,
        symbol: int,
        start: int,
        end: int,
        stack: int,
        *,
        agent: int = 4,
        queue: int = 16,
        stream: int = 0,
        grid: Sequence[int] = (1000, 1, 1),
        group: Sequence[int] = (256, 1, 1),
        tid: int | None = 70,
    ) -> int:
        event = self.event("KERNEL_DISPATCH", stack)
        self.add(
            "kernel_dispatch",
            nid=1,
            pid=7,
            tid=tid,
            agent_id=agent,
            kernel_id=symbol,
            queue_id=queue,
            stream_id=stream,
            start=start,
            end=end,
            private_segment_size=0,
            group_segment_size=512,
            **{f"workgroup_size_{side}": size for side, size in zip("xyz", group, strict=True)},
            **{f"grid_size_{side}": size for side, size in zip("xyz", grid, strict=True)},
            event_id=event,
        )
        return event

    def symbol(self, name: str, registers: int = 32) -> int:
        return self.add(
            "info_kernel_symbol",
            kernel_name=f"{name}.kd",
            display_name=name,
            arch_vgpr_count=registers,
        )

    def close(self) -> None:
        self._connection.commit()
        self._connection.close()


_RPD = {
    "metadata": "tag TEXT, value TEXT",
    "string": "string TEXT",
    "api": "pid INT, tid INT, start INT, end INT, apiName_id INT, args_id INT",
    "op": "gpuId INT, queueId INT, start INT, end INT, description_id INT, opType_id INT",
    "api_ops": "api_id INT, op_id INT",
    "copyapi": "api_ptr_id INT, size INT, kind INT",
    "kernelapi": "api_ptr_id INT, gridX INT, gridY INT, gridZ INT, workgroupX INT, workgroupY INT,"
    " workgroupZ INT, groupSegmentSize INT, privateSegmentSize INT",
    "monitor": "deviceType TEXT, deviceId INT, monitorType TEXT, start INT, end INT, value TEXT",
}


class Rpd:
    """An RPD database."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path)
        self._strings: dict[str, int] = {}
        for name, columns in _RPD.items():
            self._connection.execute(
                f"CREATE TABLE rocpd_{name} (id INTEGER PRIMARY KEY, {columns})"
            )
        self.add("metadata", tag="schema_version", value="2")

    def add(self, table: str, **columns: Any) -> int:
        """Insert a row; returns its id."""
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        cursor = self._connection.execute(
            f"INSERT INTO rocpd_{table} ({names}) VALUES ({marks})", list(columns.values())
        )
        return int(cursor.lastrowid or 0)

    def text(self, text: str) -> int:
        """Id of a text."""
        if text not in self._strings:
            self._strings[text] = self.add("string", string=text)
        return self._strings[text]

    def api(self, name: str, start: int, end: int, *, ident: int, args: str = "") -> int:
        return self.add(
            "api",
            id=ident,
            pid=31,
            tid=32,
            start=start,
            end=end,
            apiName_id=self.text(name),
            args_id=self.text(args),
        )

    def op(
        self, kind: str, start: int, end: int, api: int | None, *, name: str = "", gpu: int = 2
    ) -> int:
        op = self.add(
            "op",
            gpuId=gpu,
            queueId=0,
            start=start,
            end=end,
            description_id=self.text(name),
            opType_id=self.text(kind),
        )
        if api is not None:
            self.add("api_ops", api_id=api, op_id=op)
        return op

    def close(self) -> None:
        self._connection.commit()
        self._connection.close()


KINDS = ["NONE", "HIP_RUNTIME_API", "MARKER_CORE_API", "KERNEL_DISPATCH", "MEMORY_COPY", "ALLOC"]
OPERATIONS: list[list[str]] = [
    [],
    ["hipFree", "hipLaunchKernel"],
    ["roctxMarkA", "roctxThreadRangeA"],
    [],
    ["MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_DEVICE"],
    ["MEMORY_ALLOCATION_ALLOCATE", "MEMORY_ALLOCATION_FREE"],
]


def rocprof_record(
    kind: int, operation: int, start: int, end: int, correlation: int, **more: Any
) -> dict[str, Any]:
    """A record of any kind."""
    return {
        "size": 100,
        "kind": kind,
        "operation": operation,
        "thread_id": 11,
        "correlation_id": {"internal": correlation, "external": 0},
        "start_timestamp": start,
        "end_timestamp": end,
        **more,
    }


def rocprof_dispatch(
    kernel: int, start: int, end: int, correlation: int, *, agent: int = 90, queue: int = 3
) -> dict[str, Any]:
    """A kernel dispatch of 1000 work-items in groups of 256."""
    return rocprof_record(
        3,
        2,
        start,
        end,
        correlation,
        dispatch_info={
            "size": 72,
            "agent_id": {"handle": agent},
            "queue_id": {"handle": queue},
            "kernel_id": kernel,
            "dispatch_id": correlation,
            "private_segment_size": 0,
            "group_segment_size": 64,
            "workgroup_size": {"x": 256, "y": 1, "z": 1},
            "grid_size": {"x": 1000, "y": 1, "z": 1},
        },
        stream_id={"handle": 0},
    )


def rocprof_process(pid: int, buffers: Mapping[str, list[Any]], **more: Any) -> dict[str, Any]:
    """One element of a rocprofv3 document: kernels 8 "gemm" and 9, a CPU and a GPU (90)."""
    return {
        "metadata": {
            "pid": pid,
            "node": {"machine_id": "m1"},
            "init_time": 1,
            "command": ["/usr/bin/train", "--key=abc"],
        },
        "agents": [
            {"id": {"handle": 80}, "type": 1, "node_id": 0, "name": "CPU"},
            {
                "id": {"handle": 90},
                "type": 2,
                "node_id": 2,
                "logical_node_type_id": 0,
                "cu_count": 256,
                "max_engine_clk_fcompute": 2400,
                "name": "gfx950",
                "product_name": "AMD Instinct MI350X",
            },
        ],
        "counters": [{"id": {"handle": 5}, "name": "SQ_WAVES"}],
        "strings": {
            "buffer_records": [
                {"kind": kind, "operations": names}
                for kind, names in zip(KINDS, OPERATIONS, strict=True)
            ],
            "marker_api": [{"key": 21, "value": "step 3"}],
        },
        # Looked up by id: the places in the list say nothing.
        "kernel_symbols": [
            {"kernel_id": 9, "kernel_name": "_Z3fooPf.kd", "arch_vgpr_count": 16},
            {
                "kernel_id": 8,
                "kernel_name": "gemm.kd",
                "formatted_kernel_name": "gemm",
                "arch_vgpr_count": 64,
            },
        ],
        "buffer_records": dict(buffers),
        "callback_records": {"counter_collection": []},
        **more,
    }


def rocprof_document(*processes: dict[str, Any]) -> bytes:
    """A rocprofv3 JSON file."""
    text = json.dumps({"rocprofiler-sdk-tool": list(processes)}, separators=(",", ":"))
    return text.encode()


def rocprof_counted(dispatch: Mapping[str, Any], *values: tuple[int, float]) -> dict[str, Any]:
    """What was counted of a dispatch: (counter, value), one value a dimension."""
    keys = ("correlation_id", "start_timestamp", "end_timestamp", "dispatch_info")
    return {
        "thread_id": 11,
        "dispatch_data": {key: dispatch[key] for key in keys},
        "records": [
            {"counter_id": {"handle": counter}, "value": value} for counter, value in values
        ],
    }


_NOT_ISSUED = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"


def rocprof_sample(
    dispatch: int, offset: int, instruction: int, reason: str | None = None, issued: int = 0
) -> dict[str, Any]:
    """A sample of the stochastic method, or of host traps, which tell no reason."""
    record: dict[str, Any] = {
        "pc": {"code_object_id": 2, "code_object_offset": offset},
        "exec_mask": 18446744073709551615,
        "timestamp": 120,
        "dispatch_id": dispatch,
        "corr_id": {"internal": dispatch, "external": 0},
    }
    if reason is not None:
        snapshot = {"stall_reason": _NOT_ISSUED + reason}
        record |= {"wave_issued": issued, "wave_cnt": 4, "snapshot": snapshot}
    return {"record": record, "inst_index": instruction}


def write_sampled(folder: Path, *, stalled: int, issued: int) -> Path:
    """A run of "gemm" for 600 ns, whose samples are all of one instruction, and of another kernel
    for 9 ns."""
    process = rocprof_process(
        11,
        {
            "kernel_dispatch": [
                rocprof_dispatch(8, 1000, 1600, 2),
                rocprof_dispatch(9, 2000, 2009, 3),
            ],
            "pc_sample_stochastic": [
                *[rocprof_sample(2, 64, 0, "WAITCNT")] * stalled,
                *[rocprof_sample(2, 64, 0, "OTHER_WAIT", issued=1)] * issued,
            ],
        },
    )
    process["strings"].update(
        pc_sample_instructions=["s_waitcnt vmcnt(0)"], pc_sample_comments=["/src/a.hip:16"]
    )
    path = folder / "sampled.json"
    path.write_bytes(rocprof_document(process))
    return path


CSV_RUN = {
    "agent_info": """\
"Node_Id","Logical_Node_Id","Agent_Type","Cu_Count","Max_Engine_Clk_Fcompute","Name","Product_Name"
0,0,"CPU",96,3700,"AMD EPYC","AMD EPYC"
2,1,"GPU",304,2100,"gfx942","AMD Instinct MI300X"
4,2,"GPU",304,2100,"gfx942","AMD Instinct MI300X"
""",
    "hip_api_trace": """\
"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"
"HIP_RUNTIME_API","hipLaunchKernel",4242,4242,7,1000,1020
"HIP_RUNTIME_API","hipMemcpy",4242,4242,8,1100,1500
"HIP_RUNTIME_API","hipLaunchKernel",4242,4243,9,2000,2030
""",
    "marker_api_trace": """\
"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"
"MARKER_CORE_API","step, 1",4242,4242,6,990,1600
"MARKER_CORE_API","here",4242,4242,10,1700,1700
""",
    "kernel_trace": """\
"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name",\
"Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count",\
"Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z",\
"Grid_Size_X","Grid_Size_Y","Grid_Size_Z"
"KERNEL_DISPATCH","Agent 1",1,3,4242,1,16,"gemm(float*, int)",7,1030,1630,\
512,0,40,4,16,256,1,1,1000,2,1
"KERNEL_DISPATCH","Agent 2",1,0,4243,2,17,"add",9,2040,2050,0,0,8,0,16,64,1,1,64,1,1
"KERNEL_DISPATCH","Agent 1",1,3,4242,3,9,"__amd_rocclr_fillBufferAligned",0,1640,1650,\
0,0,0,0,0,64,1,1,64,1,1
""",
    "memory_copy_trace": """\
"Kind","Direction","Stream_Id","Source_Agent_Id","Destination_Agent_Id","Correlation_Id",\
"Start_Timestamp","End_Timestamp"
"MEMORY_COPY","MEMORY_COPY_HOST_TO_DEVICE",3,"Agent 0","Agent 1",8,1110,1400
""",
    "memory_allocation_trace": """\
"Kind","Operation","Agent_Id","Allocation_Size","Address","Correlation_Id","Start_Timestamp",\
"End_Timestamp"
"MEMORY_ALLOCATION","MEMORY_ALLOCATION_ALLOCATE","Agent 1",1024,"0x7f00",3,900,910
"MEMORY_ALLOCATION","MEMORY_ALLOCATION_FREE","Agent 0",0,"0x7f00",4,1900,1910
""",
    "counter_collection": """\
"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size",\
"Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count",\
"SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"
7,1,"Agent 1",1,4242,4242,2000,16,"gemm(float*, int)",256,512,0,40,16,"SQ_WAVES",3.000000,1030,1630
7,1,"Agent 1",1,4242,4242,2000,16,"gemm(float*, int)",256,512,0,40,16,"SQ_WAVES",5.000000,1030,1630
9,2,"Agent 2",1,4242,4243,64,17,"add",64,0,0,8,16,"SQ_WAVES",1.000000,2040,2050
""",
    "pc_sampling_stochastic": """\
"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id",\
"Wave_Issued_Instruction","Instruction_Type","Stall_Reason","Wave_Count"
1040,18446744073709551615,1,"s_waitcnt vmcnt(0)","/src/a.hip:16",7,0,"NO_INST","{0}WAITCNT",4
1050,18446744073709551615,1,"s_waitcnt vmcnt(0)","/src/a.hip:16",7,0,"NO_INST","{0}WAITCNT",4
1060,18446744073709551615,1,"s_waitcnt vmcnt(0)","/src/a.hip:16",7,1,"VALU","{0}OTHER_WAIT",4
1070,1,1,"v_add_f32 v1, v2, v3","",7,0,"NO_INST","{0}ALU_DEPENDENCY",4
2045,1,2,"","Unrecognized code object id, physical virtual address of PC:4711",9,0,\
"NO_INST","{0}BARRIER_WAIT",4
9000,1,77,"v_add_f32 v1, v2, v3","",99,0,"NO_INST","{0}WAITCNT",4
""".replace("{0}", "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"),
    "pc_sampling_host_trap": """\
"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id"
1040,18446744073709551615,1,"s_waitcnt vmcnt(0)","/src/a.hip:16",7
1041,18446744073709551615,1,"s_nop 0","",7
1042,18446744073709551615,1,"s_nop 0","",7
""",
    "kernel_stats": """\
"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"
"gemm(float*, int)",1,600,600.0,98.36,600,600,0.0
""",
}
"""Tables of one process of rocprofv3, by the names of their files. Columns are those that AMD's
documentation lists."""


def write_csv(folder: Path, *tables: str, run: str = "4242") -> list[Path]:
    """Files of `CSV_RUN`, as rocprofv3 names them."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{run}_{table}.csv" for table in tables]
    for table, path in zip(tables, paths, strict=True):
        path.write_text(CSV_RUN[table], encoding="utf-8")
    return paths
