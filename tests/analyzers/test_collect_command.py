"""The command names exactly the kernel that is looked at."""

import re
import shlex

import pytest

from dctx.analyzers.collect_command import function_name, ncu_command, rocprof_command


@pytest.mark.parametrize(
    ("kernel", "function"),
    [
        ("flash_fwd_kernel", "flash_fwd_kernel"),
        (
            "void at::native::elementwise_kernel<4, X<f(int)::{lambda()#1}> >(int)",
            "elementwise_kernel",
        ),
        ("void (anonymous namespace)::softmax_warp<float>(float*)", "softmax_warp"),
        ("Cijk_Ailk_Bljk_HHS_BH_MT64x64x32", "Cijk_Ailk_Bljk_HHS_BH_MT64x64x32"),
        ("", ""),
    ],
)
def test_function_name(kernel: str, function: str) -> None:
    assert function_name(kernel) == function


def test_ncu_command_is_one_for_the_shell() -> None:
    words = shlex.split(ncu_command("void ns::odd.name$<int>(int)"))
    assert words[:2] == ["ncu", "-k"]
    pattern = words[2].removeprefix("regex:")
    assert re.search(pattern, "odd.name$")
    assert not re.search(pattern, "oddxname$")
    assert not re.search(pattern, "odd.name$2")
    assert words[words.index("--set") + 1] == "full"
    assert words[words.index("-o") + 1] == "odd_name"
    assert words[-1] == "PROGRAM"


def test_rocprof_command() -> None:
    words = shlex.split(rocprof_command())
    assert words[0] == "rocprofv3"
    assert words[words.index("--output-format") + 1] == "json"  # the one that holds samples
    assert "--kernel-trace" in words  # else nothing tells what ran
    assert words[-2:] == ["--", "PROGRAM"]
