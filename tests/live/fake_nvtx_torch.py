"""A package `torch` that cannot be attached to, and pushes NVTX ranges as CUDA builds of torch do:
it looks for a tool's library when it first pushes one, and hands it its tables."""

from pathlib import Path
from typing import Final

_INIT: Final = """
import types
__version__ = "9.9.1+cu130"
version = types.SimpleNamespace(cuda="13.0")

from . import autograd
from .autograd.profiler import range_call, text

numbers = types.SimpleNamespace(sequence=0)

# Ranges are pushed from the frame of the function, which is there until they are popped.
class Tensor:
    def __init__(self):
        self.sequence = -1
        self.grad_fn = types.SimpleNamespace(_sequence_nr=lambda: self.sequence)

    def mul(self, other):
        made = Tensor()
        made.sequence = numbers.sequence
        numbers.sequence += 1
        range_call(9)(text("aten::mul", made.sequence))
        range_call(9)(text("aten::empty"))
        range_call(11)(None)
        range_call(11)(None)
        return made

    def backward(self):
        range_call(9)(text("autograd::engine::evaluate_function: MulBackward0"))
        range_call(9)(text("MulBackward0", self.sequence))
        range_call(9)(text("detach"))
        for _ in range(3):
            range_call(11)(None)

def ones(*size, device=None, requires_grad=False):
    range_call(9)(text("aten::ones"))
    range_call(11)(None)
    return Tensor()
"""

_PROFILER: Final = '''
import ctypes, enum, os, threading, types

# ---- NVTX

Function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)
slots = (ctypes.c_void_p * 16)()
table = (ctypes.c_void_p * 16)(*(ctypes.addressof(slots) + 8 * i for i in range(16)))

@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
def module_functions(module, out, size):
    if module != 1:
        return 0
    ctypes.c_void_p.from_address(out).value = ctypes.addressof(table)
    ctypes.c_uint.from_address(size).value = 16
    return 1

class Callbacks(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("module_functions", ctypes.c_void_p)]

functions = ctypes.cast(module_functions, ctypes.c_void_p).value
callbacks = Callbacks(ctypes.sizeof(Callbacks), functions)

@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)
def export_table(number):
    return ctypes.addressof(callbacks) if number == 1 else None

state = types.SimpleNamespace(looked=False, operators=0)

def range_call(slot):
    """What pushes or pops a range, if a profiler of this thread wants them."""
    if getattr(place, "taken", None) != "nvtx":
        return id
    if not state.looked:
        state.looked = True
        tool = os.environ.get("NVTX_INJECTION64_PATH")
        if tool:
            ctypes.CDLL(tool).InitializeInjectionNvtx2(export_table)
    return Function(slots[slot]) if slots[slot] else id

def text(name, sequence=None):
    state.operators += 1
    number = "" if sequence is None else f", seq = {sequence}"
    return f"{name}{number}, op_id = {state.operators}".encode()

class record_function:
    def __init__(self, name, slot=9):
        self.name, self.slot = name, slot

    def __enter__(self):
        range_call(self.slot)(text(self.name))

    def __exit__(self, *_):
        range_call(11)(None)

# ---- profilers: a thread has place for one

place = threading.local()

class ProfilerState(enum.Enum):
    NVTX = 3

class _ExperimentalConfig:
    pass

class ProfilerConfig:
    def __init__(self, state, *flags_and_experimental):
        assert state is ProfilerState.NVTX and len(flags_and_experimental) == 6

def take(what):
    if getattr(place, "taken", None):
        raise RuntimeError("Profiler is already enabled on this thread.")
    place.taken = what

def _enable_profiler(config, activities):
    take("nvtx")

def _disable_profiler():
    place.taken = None

def _run_on_profiler_start():
    pass

def _run_on_profiler_stop():
    pass

class profile:
    def __enter__(self):
        _run_on_profiler_start()
        take("kineto")

    def __exit__(self, *_):
        _disable_profiler()
        _run_on_profiler_stop()
'''


def write_torch(folder: Path) -> None:
    """Make the package in a folder that programs import from."""
    autograd = folder / "torch" / "autograd"
    autograd.mkdir(parents=True)
    (folder / "torch" / "__init__.py").write_text(_INIT)
    (autograd / "__init__.py").write_text("from . import profiler, profiler_legacy\n")
    (autograd / "profiler.py").write_text(_PROFILER)
    (autograd / "profiler_legacy.py").write_text("def _enable_profiler_legacy(): pass\n")
