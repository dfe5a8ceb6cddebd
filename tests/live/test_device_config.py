"""Files that name functions of devices: what they say, and what is said of wrong ones."""

import struct
from pathlib import Path

import pytest

from dctx.live.device_config import Argument, DeviceConfigError, read_device_config
from dctx.live.device_routes import FIRST_DEVICE, hooked_environment, told_devices, told_functions
from dctx.live.device_stub import stub_library

FUNCTION = """
[[device]]
name = "npu"
library = "libnpu.so.1"
[[device.function]]
name = "npuLaunch"
role = "launch"
args = ["cstr:name", "ptr", "u64:bytes", "f64"]
returns = "i32"
async = true
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "npu.toml"
    path.write_text(text)
    return path


def test_a_function_as_it_is_written(tmp_path: Path) -> None:
    [function] = read_device_config(written(tmp_path, FUNCTION))
    assert (function.device, function.library, function.name) == ("npu", "libnpu.so.1", "npuLaunch")
    assert (function.role, function.returns, function.is_async) == ("launch", "i32", True)
    assert function.args[0] == Argument("cstr", "name")
    assert function.args[2:] == (Argument("u64", "bytes"), Argument("f64"))
    assert function.fails_with == -1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"launch"', '"start"', "device 1 (npu), function 1 (npuLaunch): role: 'start'"),
        ('"f64"]', '"..."]', "args[3]: a variable number of arguments"),
        ('"f64"]', "3]", "args[3]: 3; needed: one of bool, i8"),
        ('"f64"]', '"f64:bytes"]', "an f64 has no mark"),
        ('"f64"]', '"u64:bytes"]', "a second bytes"),
        ('"f64"]', '"i32:size"]', "a mark is one of name, bytes, stream"),
        ('"cstr:name"', '"ptr:name"', "a name is a cstr"),
        ('"f64"]', ", ".join(['"i32"'] * 10) + "]", "13 arguments; needed: at most 12"),
        ('"i32"\n', '"f32"\n', "returns: 'f32'"),
        ("async = true", "async = 1", "async: 1; needed: true or false"),
        ("async", "asynch", "asynch: there is no such key"),
        ('"npuLaunch"', '"npu launch"', "'npu launch' is no symbol"),
        ('"libnpu.so.1"', '"/lib/libnpu.so.1"', "without a folder"),
        ("library =", "librari =", "librari: there is no such key"),
        ("[[device.function]]", "[[function]]", "function: there is no such key"),
        ('name = "npu"\n', "", "device 1: name: it is missing"),
        ('"npu"', '"npu', "no TOML: "),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in FUNCTION
    path = written(tmp_path, FUNCTION.replace(old, new, 1))
    with pytest.raises(DeviceConfigError) as caught:
        read_device_config(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value).rstrip("\n")


def test_no_file_no_function_and_twins(tmp_path: Path) -> None:
    with pytest.raises(DeviceConfigError, match="No such file"):
        read_device_config(tmp_path / "none.toml")
    with pytest.raises(DeviceConfigError, match="no function is named"):
        read_device_config(written(tmp_path, ""))
    with pytest.raises(DeviceConfigError, match="npuLaunch: it is named twice"):
        read_device_config(written(tmp_path, FUNCTION + FUNCTION))


def test_what_a_command_and_its_processes_are_told(tmp_path: Path) -> None:
    functions = read_device_config(written(tmp_path, FUNCTION))
    before = {"LD_AUDIT": "/theirs.so", "LD_PRELOAD": ""}
    found = hooked_environment(functions, "audit", tmp_path, before)
    assert found["LD_AUDIT"].endswith("libdctx_audit.so:/theirs.so")
    assert "LD_PRELOAD" not in found
    assert Path(found["DCTX_DEVICE_HOOKS"]).read_text() == "libnpu.so.1\tnpuLaunch\t0\t-1\n"
    [told] = told_functions(tmp_path)
    assert told["device"] == FIRST_DEVICE
    assert told_devices(tmp_path) == {FIRST_DEVICE: "npu"}


def test_arguments_beyond_the_registers_are_on_the_stack(tmp_path: Path) -> None:
    args = ", ".join(['"i64"'] * 7 + ['"f64"'] * 4)
    text = FUNCTION.replace('"cstr:name", "ptr", "u64:bytes", "f64"', args)
    found = hooked_environment(read_device_config(written(tmp_path, text)), "both", tmp_path, {})
    assert Path(found["DCTX_DEVICE_HOOKS"]).read_text() == "libnpu.so.1\tnpuLaunch\t1\t-1\n"
    assert len(found["LD_PRELOAD"].split(":")) == 2


def test_the_stub_library_exports_each_function() -> None:
    library = stub_library(["npuLaunch", "npuSync"])
    assert library[:4] == b"\x7fELF"
    for number in range(2):
        stub = struct.pack("<4s2sI", b"\xf3\x0f\x1e\xfa", b"\x41\xbb", number)
        assert library.count(stub) == 1
    assert b"\0npuLaunch\0npuSync\0" in library
