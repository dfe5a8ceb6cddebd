"""The text of a replay script, with a mark where the facts of the call go."""

from typing import Final

TEMPLATE: Final = '''\
#!/usr/bin/env python3
"""Makes one recorded call of a PyTorch operator again, and times it. Needs torch only.

    python THIS_FILE [--device cuda|cpu] [--repeat N] [--import MODULE] [--json]

Tensors have the recorded shapes, strides and types; their contents are made up. Written by dctx.
"""

import argparse
import importlib
import json
import statistics
import sys
import time

import torch

@FACTS@
TYPES = {
    "float": "float32", "double": "float64", "long int": "int64", "long": "int64",
    "int": "int32", "short int": "int16", "short": "int16", "signed char": "int8",
    "unsigned char": "uint8", "unsigned short": "uint16", "unsigned int": "uint32",
    "unsigned long": "uint64", "c10::Half": "float16", "c10::BFloat16": "bfloat16",
    "c10::complex<float>": "complex64", "c10::complex<double>": "complex128",
    "c10::Float8_e4m3fn": "float8_e4m3fn", "c10::Float8_e5m2": "float8_e5m2",
    "c10::Float8_e4m3fnuz": "float8_e4m3fnuz", "c10::Float8_e5m2fnuz": "float8_e5m2fnuz",
    "c10::Float8_e8m0fnu": "float8_e8m0fnu",
}


class CannotReplay(Exception):
    """Why this call cannot be made here."""


def element_type(name):
    found = getattr(torch, TYPES.get(name, name), None)
    if not isinstance(found, torch.dtype):
        raise CannotReplay(f"this torch has no type for {name!r}")
    return found


def dense(shape):
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= max(size, 1)
    return tuple(reversed(steps))


def tensor(shape, strides, dtype, init, bound, device):
    """A tensor over a buffer that is as large as its strides need."""
    strides = dense(shape) if strides is None else strides
    empty = any(size == 0 for size in shape)
    count = 0 if empty else 1 + sum((n - 1) * s for n, s in zip(shape, strides))
    kind = element_type(dtype)
    if init == "even":  # running sums of equal lengths
        steps = torch.arange(count, device=device, dtype=torch.float64)
        buffer = (steps * (bound / max(count - 1, 1))).to(kind)
    elif init == "index" and bound > 0:
        buffer = torch.randint(0, bound, (count,), device=device).to(kind)
    elif not (kind.is_floating_point or kind.is_complex):
        buffer = torch.zeros(count, device=device, dtype=kind)
    else:
        made = kind if kind.itemsize > 1 else torch.float32  # bytes have no random numbers
        draw = torch.rand if init == "share" else torch.randn
        buffer = draw(count, device=device, dtype=made).to(kind)
    return torch.as_strided(buffer, shape, strides)


def fits(given, wanted):
    """Whether an argument can be passed where the schema wants a type."""
    kind, value = given["kind"], given.get("value")
    name = str(wanted.type)
    if kind == "none":
        return name.startswith("Optional[") or wanted.has_default_value()
    bare = name[len("Optional["):-1] if name.startswith("Optional[") else name
    if kind == "tensor":
        return bare == "Tensor"
    if kind == "tensorlist":
        return bare in ("List[Tensor]", "List[Optional[Tensor]]")
    if kind == "list":
        return bare.startswith("List[") and "Tensor" not in bare
    if kind == "bool":
        return bare in ("bool", "number")
    if isinstance(value, int):
        return bare in ("int", "number", "float", "bool")
    if isinstance(value, float):
        return bare in ("float", "number")
    return bare in ("Device", "str", "float", "number")


def overload():
    """The form of the operator that takes these arguments."""
    library, name = OPERATOR.split("::")
    name, _, form = name.partition(".")
    try:
        packet = getattr(getattr(torch.ops, library), name)
    except (AttributeError, RuntimeError):
        raise CannotReplay(
            f"torch {torch.__version__} has no operator {OPERATOR}; "
            "name the module that registers it with --import"
        ) from None
    for one in [form] if form else packet.overloads():
        found = getattr(packet, one)
        wanted = found._schema.arguments
        if len(wanted) == len(ARGUMENTS) and all(map(fits, ARGUMENTS, wanted)):
            return found
    raise CannotReplay(
        f"torch {torch.__version__} has no form of {OPERATOR} that takes the "
        f"{len(ARGUMENTS)} recorded arguments: record and replay with the same version"
    )


def made(given, wanted, device):
    """The value of an argument."""
    kind = given["kind"]
    if kind == "none":
        # Optional, or recorded as nothing because the trace keeps no values of this kind.
        optional = str(wanted.type).startswith("Optional[")
        return None if optional else wanted.default_value
    if kind in ("tensor", "tensorlist"):
        dtype, init, bound = given["dtype"], given["init"], given.get("bound")
        if kind == "tensor":
            return tensor(given["shape"], given["strides"], dtype, init, bound, device)
        steps = given["strides"] or [None] * len(given["shape"])
        return [
            tensor(shape, stride, dtype, init, bound, device)
            for shape, stride in zip(given["shape"], steps)
        ]
    value = given["value"]
    if kind == "list":
        return list(value)
    if isinstance(value, str):
        if "Device" in str(wanted.type):
            return torch.device(device)  # the recorded one may not exist here
        return value if "str" in str(wanted.type) else float(value)
    return bool(value) if "bool" in str(wanted.type) else value


def times_us(call, repeat, device):
    """Time of each call, in microseconds."""
    for _ in range(min(repeat, 10)):
        call()
    if device.startswith("cuda"):
        torch.cuda.synchronize()
        pairs = [[torch.cuda.Event(enable_timing=True) for _ in "ab"] for _ in range(repeat)]
        for begin, end in pairs:
            begin.record()
            call()
            end.record()
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) * 1000 for begin, end in pairs]
    found = []
    for _ in range(repeat):
        begin = time.perf_counter_ns()
        call()
        found.append((time.perf_counter_ns() - begin) / 1000)
    return found


def described(value):
    """What a value is, without its contents."""
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).replace("torch.", "")
        return {"shape": list(value.shape), "strides": list(value.stride()), "dtype": dtype}
    if isinstance(value, (list, tuple)):
        return [described(one) for one in value]
    return value if isinstance(value, (bool, int, float, type(None))) else str(value)


def line(place, value):
    if isinstance(value, dict):
        text = f"{value['dtype']} {tuple(value['shape'])} strides {tuple(value['strides'])}"
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        text = f"{len(value)} tensors, the first {value[0]['dtype']} {tuple(value[0]['shape'])}"
    else:
        text = ascii(value)
    return f"  {place} {text}"


def replay(options):
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    for module in options.modules:
        importlib.import_module(module)
    torch.manual_seed(0)
    operator = overload()
    wanted = operator._schema.arguments
    values = [made(given, one, device) for given, one in zip(ARGUMENTS, wanted)]
    placed = [v for v, one in zip(values, wanted) if not one.kwarg_only]
    named = {one.name: v for v, one in zip(values, wanted) if one.kwarg_only}
    before = [described(value) for value in values]  # a result may take another shape
    with torch.no_grad():
        try:
            result = operator(*placed, **named)
            found = times_us(lambda: operator(*placed, **named), options.repeat, device)
        except (RuntimeError, NotImplementedError, IndexError, ValueError) as error:
            reason = str(error).strip().split("\\n")[0]
            raise CannotReplay(f"{OPERATOR} does not run on {device} so: {reason}") from None
    return {
        "operator": str(operator),
        "device": torch.cuda.get_device_name(device) if device.startswith("cuda") else device,
        "arguments": before,
        "result": described(result),
        "median_us": statistics.median(found),
        "min_us": min(found),
        "max_us": max(found),
        "calls": len(found),
        "trace_mean_us": TRACE_MEAN_US,
    }


def main():
    parser = argparse.ArgumentParser(description="Make one recorded call again, and time it.")
    parser.add_argument("--device", help="cuda, cuda:1, cpu [default: cuda where there is one]")
    parser.add_argument("--repeat", type=int, default=50, help="timed calls [default: 50]")
    parser.add_argument("--import", dest="modules", action="append", default=[],
                        metavar="MODULE", help="import what registers the operator")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    options = parser.parse_args()
    if options.repeat < 1:
        parser.error("--repeat: at least one call")
    try:
        found = replay(options)
    except (CannotReplay, ImportError) as why:
        sys.exit(f"not replayed: {why}")
    except RuntimeError as error:  # memory, or a device that does not exist
        sys.exit("not replayed: " + str(error).strip().split("\\n")[0])
    if options.json:
        print(json.dumps(found))
        return
    print(f"{ascii(OPERATOR)[1:-1]}: row {ROW} of {SHEET} of {ascii(TRACE)}")
    for place, value in enumerate(found["arguments"]):
        print(line(place, value))
    for text in ASSUMED:
        print(f"  assumed: {text}")
    print(f"  -> {line('', found['result']).strip()}")
    print(f"here:  {found['median_us']:.3f} us median of {found['calls']} calls on "
          f"{found['device']} ({found['min_us']:.3f} to {found['max_us']:.3f})")
    if found["device"] == "cpu":
        print("       time on the host of the whole call: not to be compared with GPU time")
    else:
        print("       from the event before a call to that after it: with the launches' gaps")
    if TRACE_MEAN_US is None:
        print("trace: GPU time not known")
    else:
        print(f"trace: {TRACE_MEAN_US:.3f} us GPU time, mean of {CALLS} calls")


if __name__ == "__main__":
    main()
'''
