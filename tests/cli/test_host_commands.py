"""`dctx verdict`, `dctx steps` and `dctx compare`: output, gates and exit codes."""

import json
import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from dctx.demo_data.llm_recipe import VARIANTS
from tests.analyzers.test_pairing import serving
from tests.analyzers.workload import Workload
from tests.cli.conftest import Run
from tests.near import near

DEMO = Path(str(files("dctx.demo_data")))
TRUTH: dict[str, Any] = json.loads((DEMO / "truth.json").read_text())
BASE, MAIN = (DEMO / variant.file for variant in VARIANTS)
SCHEMA = Path(__file__).parents[2] / "docs" / "host.schema.json"
TRACES = Path(os.environ.get("DCTX_TRACES", "/nonexistent"))
SCRIPTS = sorted(
    path
    for path in (TRACES / "expected" / "host-overhead").glob("*.json")
    if not path.name.endswith(".truth.json")
)

pytestmark = pytest.mark.usefixtures("lasting_traces")


@cache
def validator(kind: str) -> Any:
    """For one kind of document of the published schema, which is valid itself."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SCHEMA.read_text())
    schema["oneOf"] = [{"$ref": f"#/$defs/{kind}"}]
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def check(document: Any, kind: str) -> None:
    """Against the published schema."""
    problems = [
        (list(error.absolute_path), error.message)
        for found in validator(kind).iter_errors(document)
        for error in found.context or [found]
    ]
    assert problems == []


def keys(value: Any, path: str = "") -> set[str]:
    """Every key of a document, rows of a list as one."""
    kind = type(value).__name__
    if kind == "list":
        return {key for item in value for key in keys(item, f"{path}[]")}
    if kind != "dict":
        return {path}
    return {key for name, item in value.items() for key in keys(item, f"{path}.{name}")}


def fits(text: str) -> bool:
    return all(len(line) <= 80 for line in text.splitlines())


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return serving(tmp_path_factory.mktemp("small") / "small.sqlite")


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return serving(tmp_path_factory.mktemp("slower") / "slower.sqlite", gap=1_400)


def test_the_verdict_names_its_values_limits_and_what_to_do(run: Run) -> None:
    done = run("verdict", MAIN)
    assert (done.exit_code, done.stderr) == (0, "")
    text = done.stdout
    assert text.startswith("Host overhead: YES   reliability: ok\nwindow: 0.436-1.428 s")
    assert fits(text)
    for part in (
        "GPU idle 81.2 % (busy 18.8 %; copies 0.1 %)            >30 % / <60 % M1 M4",
        "crossed 4 of 6   host prep confirmed: in generation",
        "idle (no kernel or graph running): GPU 0 81.0 %, GPU 1 81.3 %",
        "generation   210 79.8 %  6.2 %  96.1/50.2/62.9 5/6     YES (CUDA graphs: yes)",
        "Next: start with _prepare_inputs (PyTorchModelEngine._prepare_inputs)",
        "wall per step        3,977.7",
    ):
        assert part in text


def test_the_verdict_as_json_follows_the_schema(run: Run) -> None:
    document = json.loads(run("verdict", "--json", BASE).stdout)
    check(document, "verdictDocument")
    assert document["verdict"] == "YES"
    idle = sum(cause["ns"] for cause in document["dctx"]["idle_blame"])
    assert idle == sum(device["idle_ns"] for device in document["dctx"]["devices"])
    handoff = document["optimization_handoff"]
    truth = TRUTH["traces"][BASE.name]["per_rank"]["0"]
    assert "top_regressing_ops" not in handoff
    assert handoff["wall_time_per_step_us"] == truth["wall_per_step_us"]
    assert handoff["inter_step_gap_p50_us"] == truth["gap_p50_us"]
    assert handoff["recommended_first_target"] == "PyTorchModelEngine._prepare_inputs"
    assert handoff["primary_bottleneck_phase"] == "generation"


def test_the_comparison_as_json_holds_the_planted_truth(run: Run) -> None:
    document = json.loads(run("compare", "--json", BASE, MAIN).stdout)
    check(document, "verdictDocument")
    comparison = document["dctx"]["comparison"]
    assert comparison["conclusion"] == TRUTH["comparison"]["conclusion"]
    assert comparison["regression_pct"] == near(TRUTH["comparison"]["wall_delta_percent"], abs=1e-3)
    assert {op["name"]: op["status"] for op in comparison["ops"]} == TRUTH["comparison"]["status"]
    assert comparison["unattributed_us"] == near(41.7769, abs=1e-3)
    assert comparison["baseline"]["inter_step_gap_p50"] == 2543.3
    assert comparison["target"]["inter_step_gap_p50"] == 4467.6
    assert comparison["target"]["kernels_per_step"] == near(21.9, abs=0.01)
    assert [op["nvtx_name"] for op in document["optimization_handoff"]["top_regressing_ops"]] == [
        "_update_requests", "broadcast_requests", "_fetch_new_requests", "prepare_resources",
        "_write_finish_reasons", "fast_greedy_sample_kernel",
    ]  # fmt: skip
    [update, *_] = document["optimization_handoff"]["top_regressing_ops"]
    assert update == {
        "nvtx_name": "_update_requests",
        "delta_us_per_step": 310.2,
        "source_function": "PyExecutor._update_requests",
    }
    found = [finding["id"] for finding in document["dctx"]["findings"]]
    assert found[:3] == TRUTH["comparison"]["findings"]
    assert document["dctx"]["inputs"] == [str(BASE), str(MAIN)]


def test_the_keys_of_the_json_are_stable(run: Run, small: Path, slower: Path) -> None:
    """A change here is a change of the published form: raise its version."""
    compared = json.loads(run("compare", "--json", small, slower).stdout)
    golden = json.loads((Path(__file__).parent / "host_keys.json").read_text())
    assert sorted(keys(compared)) == golden["compare"]
    steps = json.loads(run("steps", "--json", small).stdout)
    assert sorted(keys(steps)) == golden["steps"]
    assert compared["dctx"]["schema"] == steps["schema"] == "host/1"


def test_steps_as_text_and_json(run: Run, small: Path) -> None:
    done = run("steps", MAIN)
    assert done.exit_code == 0
    assert fits(done.stdout)
    assert "_fetch_new_requests       270.4 270.4   1.0 gap" in done.stdout
    assert "Unattributed: 571.0 µs per step (gap 227.4, step 343.6)" in done.stdout
    document = json.loads(run("steps", "--json", small).stdout)
    check(document, "stepsDocument")
    assert document["steps"]["per_step"]["launched_kernels"] == 2


def test_the_comparison_as_text_and_markdown(run: Run) -> None:
    text = run("compare", BASE, MAIN).stdout
    assert fits(text)
    for part in (
        "Slower by 660.3 µs per step (19.9 %): inter-step host overhead, 75 % of it lies",
        "wall per step, µs        3,317.4 3,977.7   +660.3  +19.9",
        "  REGRESSION _fetch_new_requests          36.4  270.4 +234.0 +642.9 gap",
        "  NEW        broadcast_requests              -  249.6 +249.6        gap",
        "Unattributed: +41.8 µs per step (gap +143.3, step -101.5)",
        "!! request-management: ",
    ):
        assert part in text
    markdown = run("compare", "--md", BASE, MAIN).stdout
    assert markdown.startswith("### Host overhead: `llama-1b-v1.1.sqlite` → ")
    assert (
        "| REGRESSION | `_fetch_new_requests` | 36.4 | 270.4 | +234.0 | +642.9 | gap |" in markdown
    )


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ([], 0, []),
        (["--fail-on", "regression"], 1, ["regression"]),
        (["--fail-on", "regression", "--max-regression", "25"], 0, []),
        (["--fail-on", "verdict,regression,unreliable"], 1, ["verdict", "regression"]),
        (["--fail-on", "verdict,regression", "--exit-detail"], 11, ["verdict", "regression"]),
        (["--fail-on", "verdict", "--exit-detail"], 10, ["verdict"]),
        (["--fail-on", "unreliable", "--exit-detail"], 0, []),
    ],
)
def test_gates(
    run: Run, small: Path, slower: Path, arguments: list[str], code: int, told: list[str]
) -> None:
    done = run("compare", small, slower, *arguments)
    assert done.exit_code == code
    lines = done.stderr.splitlines()
    assert [line.split(" failed: ")[0] for line in lines] == [f"dctx: gate {n}" for n in told]
    assert done.stdout.startswith("Compare: small.sqlite (base)")


def test_a_faster_target_fails_no_gate(run: Run, small: Path, slower: Path) -> None:
    assert run("compare", slower, small, "--fail-on", "regression").exit_code == 0


def test_gates_are_in_the_json(run: Run, small: Path, slower: Path) -> None:
    done = run("compare", "--json", small, slower, "--fail-on", "regression,unreliable")
    [regression, unreliable] = json.loads(done.stdout)["dctx"]["gates"]
    assert (regression["name"], regression["failed"], regression["limit"]) == (
        "regression",
        True,
        5,
    )
    assert regression["value"] == near(20, abs=0.1)
    assert (unreliable["name"], unreliable["failed"]) == ("unreliable", False)


def test_what_is_not_comparable_says_so(run: Run, small: Path, tmp_path: Path) -> None:
    other = serving(tmp_path / "other.sqlite", generation=16)
    done = run("compare", small, other)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "Not comparable: the steady steps of the two traces do different work" in done.stdout
    warned = run("compare", small, other, "--fail-on", "regression")
    assert warned.exit_code == 0
    assert warned.stderr.startswith("dctx: warning: gates pass though they could not be checked: ")
    strict = run("compare", small, other, "--strict")
    assert strict.exit_code == 2
    assert strict.stderr.startswith("dctx: error: the traces are not comparable: ")
    document = json.loads(run("compare", "--json", small, other).stdout)
    check(document, "verdictDocument")
    assert document["dctx"]["comparison"]["delta"] is None


def test_a_trace_without_gpu_work_declines(run: Run, tmp_path: Path) -> None:
    work = Workload(tmp_path / "none.sqlite")
    work.range("alone", 0, 100)
    work.export.close()
    done = run("verdict", work.path)
    assert done.exit_code == 0
    assert done.stdout.startswith("Host overhead: N/A   reliability: unreliable\n")
    assert fits(done.stdout)
    assert run("verdict", work.path, "--strict").exit_code == 2
    failing = run("verdict", work.path, "--fail-on", "unreliable", "--exit-detail")
    assert failing.exit_code == 12
    document = json.loads(run("verdict", "--json", work.path).stdout)
    check(document, "verdictDocument")
    assert document["aggregate_metrics"]["gpu_idle_ratio"] is None
    assert document["dctx"]["metrics_missing"]["gpu_idle_ratio"]
    assert "optimization_handoff" not in document


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--threshold", "gpu_idle=0.2"], "no threshold is called 'gpu_idle'"),
        (["--threshold", "gpu_idle_ratio"], "lacks its value"),
        (["--threshold", "compare.speed=1"], "no limit of a comparison is called 'speed'"),
        (["--threshold", "compare.sigmas=-1"], "is a number from 0 on"),
        (["--step-regex", "("], "no regular expression"),
        (["--step-regex", ""], "the step pattern is empty"),
        (["--prep-regex", ""], "the preparation pattern is empty"),
        (["--step-regex", "(?=a)a"], "Look-around and back references are left out"),
        (["--prep-regex", r"(a)\1"], "cannot be used"),
        (["--step-regex", "()()()()()()()()()(?P<step>1)"], "more than 9 groups"),
        (["--window", "soon"], "the window 'soon' is none"),
        (["--fail-on", "speed"], "no gate is called 'speed'"),
        (["--fail-on", "regression"], "needs two traces"),
        (["--config", "missing.toml"], "does not exist"),
    ],
)
def test_bad_options_are_told(run: Run, small: Path, arguments: list[str], said: str) -> None:
    done = run("verdict", small, *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-", "-"], "one standard input"),
        (["a", "b", "--json", "--md"], "one of --json and --md"),
    ],
)
def test_a_comparison_that_cannot_be_is_refused(run: Run, arguments: list[str], said: str) -> None:
    done = run("compare", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_settings_file_may_begin_with_a_byte_order_mark(
    run: Run, small: Path, tmp_path: Path
) -> None:
    config = tmp_path / "own.toml"
    config.write_bytes(b"\xef\xbb\xbf[host.thresholds]\ngpu_idle_ratio = 0.77\n")
    done = run("verdict", small, "--config", config)
    assert done.exit_code == 0, done.stderr
    assert ">77 %" in done.stdout


def test_limits_of_a_comparison(run: Run, small: Path, slower: Path, tmp_path: Path) -> None:
    config = tmp_path / "own.toml"
    config.write_text("[host.compare]\nstep_percent = 30\n")
    assert "Slower by" in run("compare", small, slower).stdout
    lenient = run("compare", small, slower, "--config", config).stdout
    assert "No significant change: +400.0 µs per step (+20.0 %), within ± 30 %." in lenient
    both = run(
        "compare", small, slower, "--config", config, "--threshold", "compare.step_percent=5"
    )
    assert "Slower by" in both.stdout


def test_settings_of_a_file_and_of_options(run: Run, small: Path, tmp_path: Path) -> None:
    config = tmp_path / "own.toml"
    config.write_text(
        "[host.thresholds]\ngpu_idle_ratio = 0.99\n"
        '[host.sources]\n"_update_requests" = "mine.update"\n'
    )
    document = json.loads(run("verdict", "--json", small, "--config", config).stdout)
    assert document["dctx"]["thresholds"]["aggregate"]["gpu_idle_ratio"] == 0.99
    both = run("verdict", "--json", small, "--config", config, "--threshold", "nccl_ratio=0.5")
    limits = json.loads(both.stdout)["dctx"]["thresholds"]["aggregate"]
    assert (limits["gpu_idle_ratio"], limits["nccl_ratio"]) == (0.99, 0.5)


@pytest.mark.skipif(not SCRIPTS, reason="DCTX_TRACES names no folder with traces")
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_the_scripts_own_document(run: Run, path: Path) -> None:
    trace = TRACES / "nsys" / f"{path.stem}.sqlite"
    done = run("verdict", "--json", "--compat", "trtllm-scripts", trace)
    assert json.loads(done.stdout) == json.loads(path.read_text())
    assert fits(run("verdict", "--compat", "trtllm-scripts", trace).stdout)


@pytest.mark.skipif(not TRACES.exists(), reason="DCTX_TRACES names no folder with traces")
@pytest.mark.parametrize("path", sorted((TRACES / "nsys").glob("*.sqlite")), ids=lambda p: p.stem)
def test_every_export_gets_an_answer(run: Run, path: Path) -> None:
    done = run("verdict", path)
    assert (done.exit_code, done.stderr) == (0, "")
    assert fits(done.stdout)
    check(json.loads(run("verdict", "--json", path).stdout), "verdictDocument")
    assert run("steps", path).exit_code == 0


def test_a_profile_of_sums_is_not_called_empty(run: Run, tmp_path: Path) -> None:
    metrics = {"count": 3, "time (ns)": 900, "device_type": "CUDA", "device_id": "0"}
    name = {"name": "gemm", "type": "function"}
    leaf: dict[str, Any] = {"frame": name, "metrics": metrics, "children": []}
    root: dict[str, Any] = {"frame": {"name": "ROOT"}, "metrics": {}, "children": [leaf]}
    device = {"CUDA": {"0": {"arch": "90", "bus_width": 5120, "clock_rate": 1, "num_sms": 132}}}
    path = tmp_path / "run.hatchet"
    path.write_text(json.dumps([root, device]))
    done = run("verdict", path)
    assert done.exit_code == 0
    assert "the profile holds sums over the" in done.stdout
    assert "nothing ran on a" not in done.stdout
