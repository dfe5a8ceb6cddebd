"""What a recording lacks, and what the user should know about it."""

from collections.abc import Sequence

from ..capabilities import Capability
from ..model import Severity
from .device import DeviceRows
from .host import HostRows
from .modules import Modules
from .recording import Recording


def capabilities(hosts: Sequence[HostRows], devices: Sequence[DeviceRows]) -> dict[Capability, str]:
    """For each capability why it is not there; empty where it is."""
    work = sum(item.work for item in devices)
    thunks = sum(item.thunks for item in hosts)
    sourced = sum(item.sourced for item in devices) + sum(item.sourced for item in hosts)
    found = {
        Capability.PYTHON_FRAMES: ""
        if sourced or any(item.python for item in hosts)
        else "recorded without the Python tracer and without HLO modules: record with "
        "jax.profiler.trace, and ProfileOptions.python_tracer_level = 1.",
        Capability.ANNOTATIONS: "",
        Capability.STEPS: ""
        if any(item.steps for item in hosts)
        else "no step is marked: wrap each one in "
        'jax.profiler.StepTraceAnnotation("train", step_num=i).',
        Capability.GPU_WORK: ""
        if work
        else "the recording has no GPU events: "
        + (
            "XLA ran on the CPU, and its operations are on the host threads."
            if thunks
            else "record with the GPU backend of JAX (jax[cuda12], or ROCm) in use."
        ),
        Capability.MEMORY: ""
        if any(len(item.memory) for item in hosts)
        else "no allocation is recorded: the CPU backend of XLA records none."
        if thunks
        else "no allocation is recorded.",
    }
    if thunks or not work:
        found[Capability.CPU_OPERATORS] = (
            "" if thunks else "no HLO operation ran on the CPU while recording."
        )
    if work:
        found[Capability.LAUNCHES] = (
            ""
            if any(item.calls for item in hosts)
            else "recorded without API calls: record with "
            "ProfileOptions.host_tracer_level = 2 or higher."
        )
    return found


def damage_notes(recording: Recording, modules: Modules) -> list[tuple[Severity, str]]:
    """What could not be read, and what was corrected."""
    faults = recording.faults
    notes: list[tuple[Severity, str]] = []
    for plane, offset, reason in faults.damage[:3]:
        where = f"in {plane}" if plane else "of the file"
        text = f"Reading {where} stopped at byte {offset}: {reason}. What came before it is shown."
        notes.append((Severity.ERROR, text))
    if len(faults.damage) > 3:
        notes.append((Severity.ERROR, f"{len(faults.damage) - 3} more places are damaged."))
    if modules.damaged:
        text = f"{modules.damaged} HLO modules are damaged: source lines may be missing."
        notes.append((Severity.WARNING, text))
    for reason, count in faults.left_out.items():
        if count:
            text = f"{count} events are left out: {reason.replace('_', ' ')}."
            notes.append((Severity.WARNING, text))
    notes += [(Severity.WARNING, text) for text in faults.told[:20]]
    if recording.is_export:
        text = (
            "This is the JSON that viewers read: it has no HLO modules, so operations are not "
            "linked to Python lines, and it may end near a million events. The .xplane.pb of the "
            "same run holds all of it."
        )
        notes.append((Severity.WARNING, text))
    return notes


def notes_of(
    modules: Modules, host: HostRows, device: DeviceRows, is_export: bool
) -> list[tuple[Severity, str]]:
    """What the user should know about what was recorded."""
    notes: list[tuple[Severity, str]] = []
    if (device.work or host.thunks) and not len(modules) and not is_export:
        text = (
            "The recording has no HLO modules: GPU work and operations are not linked to Python "
            "lines. Newer versions of JAX keep them (ProfileOptions.enable_hlo_proto)."
        )
        notes.append((Severity.WARNING, text))
    if device.work and device.linked < device.work:
        text = f"{device.work - device.linked} of {device.work} GPU operations have no launch."
        notes.append((Severity.INFO, text))
    if device.idle:
        text = f"{device.idle} GPUs are listed without a single event: they are not shown."
        notes.append((Severity.INFO, text))
    for name in device.others[:8]:
        text = f"{name}: its lines are shown as spans; they count as no GPU work."
        notes.append((Severity.INFO, text))
    return notes
