"""Table layouts of Nsight Systems exports, by the year of the exporter.

A column is written `name:type`, with type `int`, `real`, `text` or `str` (the id of a text in
StringIds). `!` means NOT NULL, `*` part of the primary key, `@2022` present since that year,
`@-2025` until that year. Only what a reader may meet is listed; order follows real files.
"""

from dataclasses import dataclass

NEWEST = 2026

_SPANS = "start:int! end:int!"
_GPU = "deviceId:int! contextId:int! greenContextId:int@2024 streamId:int!"
_LINK = "correlationId:int globalPid:int"
_CHAIN = "symbol:str! module:str!"

_LAYOUTS = {
    "StringIds": "id:int!* value:text!",
    "META_DATA_CAPTURE": "name:text! value:text",
    "META_DATA_EXPORT": "name:text! value:text",
    "EXPORT_META_DATA": "name:text! value:text",
    "ANALYSIS_FILE": "id:int!* filename:text contentId:str globalPid:int!",
    "ProcessStreams": "globalPid:int! filenameId:str! contentId:str!",
    "TARGET_INFO_SYSTEM_ENV": (
        "globalVid:int devStateName:text! name:text! nameEnum:int! value:text!"
    ),
    "TARGET_INFO_SESSION_START_TIME": (
        "utcEpochNs:int utcTime:text localTime:text systemClockNs:int@2026"
    ),
    "ANALYSIS_DETAILS": "globalVid:int! duration:int! startTime:int! stopTime:int!",
    "PROCESSES": "globalPid:int pid:int name:text",
    "ThreadNames": "nameId:str! priority:int globalTid:int",
    "TARGET_INFO_GPU": (
        "vmId:int! id:int! name:text busLocation:text isDiscrete:int l2CacheSize:int"
        " totalMemory:int memoryBandwidth:int clockRate:int smCount:int pwGpuId:int uuid:text"
        " chipName:text cuDevice:int computeMajor:int computeMinor:int smMajor:int smMinor:int"
    ),
    "TARGET_INFO_CUDA_DEVICE": (
        "gpuId:int cudaId:int! pid:int! uuid:text@2026 numMultiprocessors:int@2026"
    ),
    "TARGET_INFO_CUDA_CONTEXT_INFO": (
        "nullStreamId:int! hwId:int! vmId:int! processId:int! deviceId:int! contextId:int!"
        " parentContextId:int isGreenContext:int"
    ),
    "TARGET_INFO_CUDA_NULL_STREAM": (
        "streamId:int! hwId:int! vmId:int! processId:int! deviceId:int! contextId:int!"
    ),
    "TARGET_INFO_CUDA_STREAM": (
        "streamId:int! hwId:int! vmId:int! processId:int! contextId:int! priority:int! flag:int!"
    ),
    "TARGET_INFO_NVTX_CUDA_STREAM": (
        "name:text! hwId:int! vmId:int! processId:int! deviceId:int! contextId:int! streamId:int!"
    ),
    "TARGET_INFO_GPU_METRICS": (
        "typeId:int! sourceId:int! typeName:text! metricId:int! metricName:text!"
    ),
    "GPU_METRICS": "rawTimestamp:int timestamp:int! typeId:int! metricId:int! value:real!",
    "CUPTI_ACTIVITY_KIND_KERNEL": (
        f"{_SPANS} {_GPU} {_LINK} demangledName:str! shortName:str! mangledName:str@2022"
        " launchType:int cacheConfig:int registersPerThread:int! gridX:int! gridY:int! gridZ:int!"
        " blockX:int! blockY:int! blockZ:int! staticSharedMemory:int! dynamicSharedMemory:int!"
        " localMemoryPerThread:int! localMemoryTotal:int! gridId:int! sharedMemoryExecuted:int"
        " graphNodeId:int sharedMemoryLimitConfig:int qmdBulkReleaseDone:int@2026"
        " qmdPreexitDone:int@2026 qmdLastCtaDone:int@2026 graphId:int@2026 clusterX:int@2026"
        " clusterY:int@2026 clusterZ:int@2026 clusterSchedulingPolicy:int@2026"
        " maxActiveClusters:int@2026"
    ),
    "CUPTI_ACTIVITY_KIND_MEMCPY": (
        f"{_SPANS} {_GPU} {_LINK} bytes:int! copyKind:int! deprecatedSrcId:int srcKind:int"
        " dstKind:int srcDeviceId:int srcContextId:int dstDeviceId:int dstContextId:int"
        " migrationCause:int graphNodeId:int virtualAddress:int@2022 copyCount:int@2026"
    ),
    "CUPTI_ACTIVITY_KIND_MEMSET": (
        f"{_SPANS} {_GPU} {_LINK} value:int! bytes:int! graphNodeId:int memKind:int"
    ),
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": f"{_SPANS} {_GPU} {_LINK} graphId:int! graphExecId:int!",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": (
        f"{_SPANS} {_GPU} {_LINK} deprecatedSyncType:int@2026 syncType:int! eventId:int!"
        " eventSyncId:int@2026"
    ),
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT": (
        f"timestamp:int@2026 {_GPU} {_LINK} eventId:int! eventSyncId:int@2026"
    ),
    "CUPTI_ACTIVITY_KIND_RUNTIME": (
        f"{_SPANS} eventClass:int! globalTid:int correlationId:int nameId:str! returnValue:int!"
        " callchainId:int"
    ),
    "CUPTI_ACTIVITY_KIND_OVERHEAD": (
        f"{_SPANS} eventClass:int! globalTid:int correlationId:int nameId:str overheadType:int!"
    ),
    "PROFILER_OVERHEAD": (
        f"{_SPANS} globalTid:int correlationId:int@-2021 nameId:str! returnValue:int!@-2025"
        " overheadType:int!@2026"
    ),
    "CUDA_GRAPH_NODE_EVENTS": (
        f"{_SPANS} eventClass:int! globalTid:int nameId:str! graphNodeId:int!"
        " originalGraphNodeId:int"
    ),
    "CUDA_GRAPH_EVENTS": (
        f"{_SPANS} eventClass:int! globalTid:int nameId:str! graphNodeId:int!@-2022"
        " originalGraphNodeId:int@-2022 graphId:int@2023 originalGraphId:int@2023"
        " graphExecId:int@2023"
    ),
    "CUDA_GPU_MEMORY_USAGE_EVENTS": (
        "start:int! globalPid:int! deviceId:int! contextId:int! address:int! pc:int! bytes:int!"
        " memKind:int! memoryOperationType:int! name:text correlationId:int"
    ),
    "CUDA_CALLCHAINS": (f"id:int!* {_CHAIN} unresolved:int originalIP:int stackDepth:int!*"),
    "OSRT_CALLCHAINS": (
        f"id:int!* {_CHAIN} kernelMode:int thumbCode:int unresolved:int specialEntry:int"
        " originalIP:int unwindMethod:int stackDepth:int!*"
    ),
    "SAMPLING_CALLCHAINS": (
        f"id:int!* {_CHAIN} kernelMode:int thumbCode:int unresolved:int specialEntry:int"
        " originalIP:int unwindMethod:int stackDepth:int!*"
    ),
    "COMPOSITE_EVENTS": (
        "id:int!* start:int! cpu:int threadState:int globalTid:int cpuCycles:int!"
    ),
    "SCHED_EVENTS": (
        "start:int! cpu:int! isSchedIn:int! globalTid:int threadState:int@2024 threadBlock:int@2024"
    ),
    "OSRT_API": (
        f"{_SPANS} eventClass:int! globalTid:int correlationId:int@-2021 nameId:str!"
        " returnValue:int! nestingLevel:int callchainId:int! argumentsId:int@2026"
    ),
    "NVTX_EVENTS": (
        "start:int! end:int eventType:int! rangeId:int category:int color:int text:text"
        " globalTid:int endGlobalTid:int textId:str domainId:int uint64Value:int int64Value:int"
        " doubleValue:real uint32Value:int int32Value:int floatValue:real jsonTextId:str"
        " jsonText:text binaryData:text@2026"
    ),
    "NVTX_PAYLOAD_SCHEMAS": (
        "domainId:int schemaId:int name:text type:int flags:int numEntries:int payloadSize:int"
        " alignTo:int"
    ),
    "NVTX_PAYLOAD_SCHEMA_ENTRIES": (
        "domainId:int! schemaId:int! idx:int! flags:int type:int name:text description:text"
        " arrayOrUnionDetail:int offset:int"
    ),
    "NVTX_PAYLOAD_ENUMS": "domainId:int schemaId:int name:text numEntries:int size:int",
    "NVTX_PAYLOAD_ENUM_ENTRIES": (
        "domainId:int! schemaId:int! idx:int! name:text value:int isFlag:int"
    ),
    "MPI_RANKS": "globalTid:int rank:int",
    "MPI_P2P_EVENTS": (
        "start:int! end:int globalTid:int textId:str commHandle:int tag:int remoteRank:int size:int"
    ),
    "MPI_COLLECTIVES_EVENTS": (
        "start:int! end:int globalTid:int textId:str commHandle:int rootRank:int size:int"
        " recvSize:int"
    ),
    "MPI_START_WAIT_EVENTS": ("start:int! end:int globalTid:int textId:str requestHandle:int"),
    "MPI_OTHER_EVENTS": "start:int! end:int globalTid:int textId:str",
    "DIAGNOSTIC_EVENT": (
        "timestamp:int! timestampType:int! source:int! severity:int! text:text! globalPid:int"
    ),
    "ENUM_NSYS_EVENT_TYPE": "id:int!* name:text label:text",
    "ENUM_NSYS_EVENT_CLASS": "id:int!* name:text label:text",
    "ENUM_CUDA_MEMCPY_OPER": "id:int!* name:text label:text",
}

TABLES = tuple(_LAYOUTS)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: `kind` is int, real, text or str (a StringIds id)."""

    name: str
    kind: str
    not_null: bool = False
    key: bool = False

    @property
    def sql_type(self) -> str:
        return {"int": "INTEGER", "str": "INTEGER", "real": "REAL", "text": "TEXT"}[self.kind]

    @property
    def filler(self) -> int | str | None:
        """Stands for a value that is not given where NULL is not allowed."""
        if not self.not_null:
            return None
        return "" if self.kind == "text" else 0


def _exists(years: str, year: int) -> bool:
    first, dash, last = years.partition("-")
    if not dash:
        return not first or int(first) <= year
    return (not first or int(first) <= year) and year <= int(last)


def parse_columns(layout: str, year: int = NEWEST) -> tuple[Column, ...]:
    """The columns of a layout text that files of `year` have."""
    columns: list[Column] = []
    for word in layout.split():
        spec, _, years = word.partition("@")
        name, _, kind = spec.partition(":")
        if _exists(years, year):
            columns.append(Column(name, kind.rstrip("!*"), "!" in kind, "*" in kind))
    return tuple(columns)


def table_columns(table: str, year: int = NEWEST) -> tuple[Column, ...]:
    """The columns of a known table. KeyError for a table that is not listed."""
    return parse_columns(_LAYOUTS[table], year)
