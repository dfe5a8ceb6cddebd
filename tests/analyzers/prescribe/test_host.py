"""Analyzers of what the host does while the GPU idles: where they fire, what they say it may gain,
and where they must not."""

from pathlib import Path

from dctx.analyzers.prescribe.facts import Facts
from tests.kineto_files import call
from tests.planted import ADD, GEMM, Program, annotation, found, gain_us, op, places, python


def test_a_wait_is_found_by_its_line_with_the_idle_time_it_causes(tmp_path: Path) -> None:
    program = Program()
    for _ in range(4):
        with program.within(python, "train.py(7): log_loss"), program.within(op, "aten::item"):
            program.wait(late=30)
        with program.within(op, "aten::mm"):
            program.launch(GEMM, 1000)
    facts = program.facts(tmp_path)
    finding = found(facts, "sync")
    # Three pauses: the wait returns 30 after the end; two contexts end and one begins, then the
    # launch and its latency. The wait itself is longer than the pause: all of it counts.
    assert gain_us(finding) == 3 * (30 + 2 + 1 + 5 + 5)
    assert places(facts, finding) == ["log_loss"]
    assert finding is not None
    assert "log_loss (train.py:7)" in finding.sentence


def test_of_a_pause_a_wait_explains_no_more_than_it_took(tmp_path: Path) -> None:
    program = Program()
    for _ in range(4):
        program.launch(GEMM, 1000)
        program.work(1200)  # the GPU is done long before
        with program.within(op, "aten::item"):
            program.api("cudaStreamSynchronize", 40)
    facts = program.facts(tmp_path)
    assert gain_us(found(facts, "sync", share=0.01)) == 3 * 40


def test_a_wait_with_work_still_queued_costs_nothing(tmp_path: Path) -> None:
    program = Program()
    for _ in range(4):
        with program.within(op, "aten::item"):
            program.api("cudaEventSynchronize", 100)
        program.launch(GEMM, 1000)
        program.launch(GEMM, 1000)
    assert found(program.facts(tmp_path), "sync") is None


def test_a_loader_that_starves_the_gpu_is_named(tmp_path: Path) -> None:
    program = Program()
    for _ in range(3):
        with program.within(
            annotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        ):
            program.work(500)
        with program.within(op, "aten::mm"):
            program.launch(GEMM, 100)
    facts = program.facts(tmp_path)
    finding = found(facts, "data-loader")
    # From the end of a launch the kernel runs from 5 to 105, the next loader from 1 to 503: the GPU
    # idles 398 of it, and 4 before the second kernel starts.
    assert gain_us(finding) == 2 * 398 + 4
    assert places(facts, finding) == ["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"]
    assert finding is not None
    assert "num_workers=0" in finding.sentence
    assert "workers" in finding.remedy


def test_a_loader_hidden_behind_the_gpu_is_none(tmp_path: Path) -> None:
    program = Program()
    for _ in range(3):
        with program.within(annotation, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter"):
            program.work(500)
        with program.within(op, "aten::mm"):
            program.launch(GEMM, 1000)
    assert found(program.facts(tmp_path), "data-loader") is None


def test_without_a_gpu_the_loader_is_judged_by_host_time(tmp_path: Path) -> None:
    program = Program()
    for _ in range(3):
        with program.within(python, "torch/utils/data/dataloader.py(630): __next__"):
            program.work(898)
        with program.within(op, "aten::mm"):
            program.work(98)
    finding = found(program.facts(tmp_path), "data-loader")
    assert gain_us(finding) == 3 * 900
    assert finding is not None
    assert "no GPU work" in finding.sentence


def test_host_work_that_launches_nothing_is_found_where_the_gpu_waits_for_it(
    tmp_path: Path,
) -> None:
    program = Program()
    for _ in range(3):
        with program.within(python, "train.py(3): step"):
            with program.within(python, "metrics.py(40): update"):
                program.work(700)
            with program.within(op, "aten::mm"):
                program.launch(GEMM, 100)
    facts = program.facts(tmp_path)
    finding = found(facts, "cpu-latency")
    # From the end of a launch the kernel runs from 5 to 105, `update` from 3 to 705.
    assert places(facts, finding) == ["update"]
    assert gain_us(finding) == 2 * 600 + 2


def test_host_work_beside_a_busy_gpu_is_none(tmp_path: Path) -> None:
    program = Program()
    program.launch(GEMM, 3000)
    for _ in range(3):
        with program.within(python, "metrics.py(2): update"):
            program.work(700)
        program.launch(GEMM, 1000)
    assert found(program.facts(tmp_path), "cpu-latency") is None


def test_host_work_of_a_thread_that_holds_nothing_up_is_none(tmp_path: Path) -> None:
    program = Program()
    for _ in range(30):
        with program.within(op, "aten::mm"):
            program.launch(GEMM, 100)
            program.work(120)
    begin = 100
    program.events.append(
        python("monitor.py(1): report", begin, program.now - begin) | {"tid": 999}
    )
    finding = found(program.facts(tmp_path), "cpu-latency")
    assert finding is None or "report" not in finding.sentence


def test_a_region_that_launches_one_by_one_is_a_candidate_for_a_graph(tmp_path: Path) -> None:
    program = Program()
    for _ in range(2):
        with program.within(python, "model.py(9): forward"):
            for _ in range(25):
                with program.within(op, "aten::mm"):
                    program.work(20)
                    program.launch(GEMM, 8)
    facts = program.facts(tmp_path)
    finding = found(facts, "launch-bound")
    # From launch to launch 20 + 5 + 2; the kernel takes 8 of it. Between the visits 2 more.
    assert gain_us(finding) == 49 * (27 - 8) + 2
    assert places(facts, finding) == ["forward"]
    assert finding is not None
    assert "CUDA graph" in finding.remedy


def test_a_region_whose_kernels_keep_the_gpu_busy_is_no_candidate(tmp_path: Path) -> None:
    program = Program()
    with program.within(python, "model.py(9): forward"):
        for _ in range(50):
            with program.within(op, "aten::mm"):
                program.launch(GEMM, 40)
    assert found(program.facts(tmp_path), "launch-bound") is None


def test_allocations_in_the_loop_are_churn(tmp_path: Path) -> None:
    program = Program()
    for _ in range(6):
        with program.within(op, "aten::empty"):
            program.api("cudaMalloc", 60)
            program.api("cudaFree", 60)
        with program.within(op, "aten::mm"):
            program.launch(GEMM, 50)
    facts = program.facts(tmp_path)
    finding = found(facts, "memory-churn")
    # From the end of a launch the kernel runs from 5 to 55, the calls from 2 to 122; the GPU idles
    # before four kernels while the next calls have begun.
    assert gain_us(finding) == 5 * 67 + 4 * 3
    assert places(facts, finding) == ["aten::empty"]


def test_a_first_allocation_that_takes_long_is_no_churn(tmp_path: Path) -> None:
    """It makes the context of the device; the others cost next to nothing."""
    program = Program()
    program.launch(GEMM, 50)
    for step in range(12):
        with program.within(op, "aten::empty"):
            program.api("cudaMalloc", 1 if step else 90_000)
        with program.within(op, "aten::mm"):
            program.launch(GEMM, 50)
    assert found(program.facts(tmp_path), "memory-churn") is None


def test_calls_of_the_driver_below_those_of_the_runtime_count_once(tmp_path: Path) -> None:
    def facts(nested: bool) -> Facts:
        program = Program()
        for _ in range(6):
            for name in ("cudaMalloc", "cudaFree"):
                begin = program.now
                program.api(name, 60)
                if nested:
                    program.events.append(call("cuMemFree", begin + 5, 50, 900 + begin))
            with program.within(op, "aten::mm"):
                program.launch(GEMM, 50)
        return program.facts(tmp_path)

    once, twice = found(facts(False), "memory-churn"), found(facts(True), "memory-churn")
    assert gain_us(twice) == gain_us(once) > 0
    assert twice is not None
    assert twice.sentence.startswith("12 calls take memory")


def test_few_allocations_are_none(tmp_path: Path) -> None:
    program = Program()
    for _ in range(4):
        program.api("cudaMalloc", 60)
        program.launch(GEMM, 50)
    assert found(program.facts(tmp_path), "memory-churn") is None


def test_code_that_is_loaded_inside_the_window_is_a_warm_up(tmp_path: Path) -> None:
    program = Program()
    for step in range(4):
        with program.within(op, "aten::mm"):
            if step == 1:
                program.api("cuModuleLoadData", 900)
            program.launch(GEMM, 100)
    facts = program.facts(tmp_path)
    finding = found(facts, "warm-up")
    # The call begins 2 after the first launch, the kernel ends 105 after it.
    assert gain_us(finding) == 900 - (105 - 2)
    assert places(facts, finding) == ["cuModuleLoadData"]
    assert finding is not None
    assert "warm" in finding.id


def test_code_that_is_loaded_before_the_first_kernel_is_none(tmp_path: Path) -> None:
    program = Program()
    program.api("cuModuleLoadData", 900)
    for _ in range(4):
        program.launch(ADD, 100)
    assert found(program.facts(tmp_path), "warm-up") is None


def test_compilation_recompilation_and_graph_breaks_are_told(tmp_path: Path) -> None:
    program = Program()
    for step in range(3):
        with program.within(annotation, f"Torch-Compiled Region: 0/{step}"):
            if step:
                with program.within(annotation, "_compile.compile_inner (dynamo_timed)"):
                    program.work(400)
            program.launch(ADD, 50)
        with program.within(python, "model.py(12): torch_dynamo_resume_in_forward_at_12"):
            program.launch(ADD, 50)
    facts = program.facts(tmp_path)
    finding = found(facts, "torch-compile")
    assert finding is not None
    assert places(facts, finding) == ["_compile.compile_inner (dynamo_timed)"]
    assert "2 regions compiled again" in finding.sentence
    assert "1 graph break" in finding.sentence
    # From the end of the second launch, 7 after the first, the GPU is busy up to 98, and compiling
    # takes from 2 to 404.
    assert gain_us(finding) == 2 * 306


def test_without_a_gpu_compilation_is_judged_by_host_time(tmp_path: Path) -> None:
    program = Program()
    for step in range(3):
        with program.within(annotation, f"Torch-Compiled Region: 0/{step}"):
            with program.within(annotation, "_compile.compile_inner (dynamo_timed)"):
                program.work(398)
            program.work(100)
    finding = found(program.facts(tmp_path), "torch-compile")
    assert gain_us(finding) == 3 * 400
    assert finding is not None
    assert "host time (the trace has no GPU work)" in finding.sentence
    assert [row.unit for row in finding.evidence] == ["ms"]


def test_compiled_code_that_runs_quietly_is_none(tmp_path: Path) -> None:
    program = Program()
    for _ in range(3):
        with program.within(annotation, "Torch-Compiled Region: 0/0"):
            program.launch(ADD, 50)
    assert found(program.facts(tmp_path), "torch-compile") is None
