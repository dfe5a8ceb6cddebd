"""The HLO decoder: instructions, what a fusion is made of, Python stacks."""

import pytest

from dctx.native import HloModule, StringPool, read_hlo
from tests.xplane_file import Stacks, blob, computation, hlo_proto, instruction, number

MAIN = ("train.py", "<module>", 40)
STEP = ("train.py", "train_step", 20)
LOSS = ("train.py", "loss_fn", 12)


def read(data: bytes) -> tuple[HloModule, StringPool]:
    pool = StringPool()
    return read_hlo(data, pool=pool), pool


def stack_of(module: HloModule, pool: StringPool, row: int) -> list[tuple[str, str, int]]:
    stacks = module.stacks()
    stack = module.instructions()["stack"][row]
    if stack < 0:
        return []
    first, last = stacks["offsets"][stack], stacks["offsets"][stack + 1]
    return [
        (pool[stacks["file"][i]], pool[stacks["function"][i]], int(stacks["line"][i]))
        for i in range(first, last)
    ]


@pytest.mark.parametrize("pack", [True, False])
def test_a_fusion_names_what_it_was_fused_from(pack: bool) -> None:
    inner = computation(
        5,
        "fused",
        instruction("p0", "parameter"),
        instruction("mul.1", "multiply", "jit(f)/mul", source=("train.py", 12)),
    )
    fusion = instruction("fusion.1", "fusion", "jit(f)/add", calls=[5, 99, 5], pack=pack)
    module, pool = read(hlo_proto("jit_f", computation(9, "main", fusion), inner, key=30))
    assert (module.name, module.id, module.damaged) == ("jit_f", 30, None)
    rows = module.instructions()
    assert [pool[i] for i in rows["name"]] == ["fusion.1", "p0", "mul.1"]
    assert [pool[i] for i in rows["opcode"]] == ["fusion", "parameter", "multiply"]
    assert rows["op_name"].tolist() == [pool.intern("jit(f)/add"), -1, pool.intern("jit(f)/mul")]
    assert rows["file"].tolist() == [-1, -1, pool.intern("train.py")]
    assert rows["line"].tolist() == [-1, -1, 12]
    offsets, called = module.calls()
    assert offsets.tolist() == [0, 2, 2, 2]
    assert called.tolist() == [1, 1]  # 99 is in no module
    assert module.computations()["id"].tolist() == [9, 5]


def test_stacks_are_outermost_first_and_shared() -> None:
    stacks = Stacks()
    step = stacks.path(MAIN, STEP)
    loss = stacks.frame(*LOSS, parent=step)
    main = computation(
        1,
        "main",
        instruction("a", "add", stack=loss),
        instruction("b", "add", stack=step),
        instruction("c", "add", stack=loss),
        instruction("d", "add"),
    )
    module, pool = read(hlo_proto("jit_f", main, stacks=stacks))
    assert stack_of(module, pool, 0) == [MAIN, STEP, LOSS]
    assert stack_of(module, pool, 1) == [MAIN, STEP]
    assert stack_of(module, pool, 3) == []
    assert module.instructions()["stack"].tolist() == [0, 1, 0, -1]


def test_an_inlined_functions_callers_appear_once() -> None:
    layer, model = ("m.py", "layer", 3), ("m.py", "model", 9)
    stacks = Stacks()
    twice = stacks.path(MAIN, model, layer, model, layer, LOSS)
    thrice = stacks.path(MAIN, model, layer, model, layer, model, layer)
    recursion = stacks.path(MAIN, layer, layer, LOSS)
    main = computation(
        1, "main", *(instruction(f"i{s}", "add", stack=s) for s in (twice, thrice, recursion))
    )
    module, pool = read(hlo_proto("jit_f", main, stacks=stacks))
    assert stack_of(module, pool, 0) == [MAIN, model, layer, LOSS]
    assert stack_of(module, pool, 1) == [MAIN, model, layer]
    assert stack_of(module, pool, 2) == [MAIN, layer, layer, LOSS]  # one frame: real recursion


def test_a_cycle_and_ids_out_of_range_end_the_stack() -> None:
    stacks = Stacks()
    first = stacks.frame(*MAIN, parent=2)
    stacks.frame(*STEP, parent=first)
    orphan = stacks.frame(*LOSS, parent=77)
    stacks.locations.append((9, 9, 0))
    stacks.frames.append((len(stacks.locations), orphan))
    stacks.frames.append((55, 0))
    main = computation(
        1, "main", *(instruction(f"i{s}", "add", stack=s) for s in (1, orphan, 4, 5, 99))
    )
    module, pool = read(hlo_proto("jit_f", main, stacks=stacks))
    assert stack_of(module, pool, 0) == [STEP, MAIN]
    assert stack_of(module, pool, 1) == [LOSS]
    assert module.instructions()["stack"].tolist()[3:] == [-1, -1]
    rows = module.stacks()
    fourth = module.instructions()["stack"][2]
    last = rows["offsets"][fourth + 1] - 1
    assert (rows["file"][last], rows["function"][last], rows["line"][last]) == (-1, -1, -1)


def test_an_endless_chain_of_frames_is_cut() -> None:
    stacks = Stacks()
    deep = stacks.path(*(("f.py", f"f{i}", i + 1) for i in range(1_000)))
    main = computation(1, "main", instruction("i", "add", stack=deep))
    module, pool = read(hlo_proto("jit_f", main, stacks=stacks))
    path = stack_of(module, pool, 0)
    assert len(path) == 200
    assert path[-1] == ("f.py", "f999", 1_000)  # the innermost are kept


def test_a_module_cut_anywhere_keeps_what_came_before() -> None:
    stacks = Stacks()
    top = stacks.path(MAIN, STEP)
    main = computation(
        1, "main", *(instruction(f"i{i}", "add", stack=top, calls=[1]) for i in range(4))
    )
    data = hlo_proto("jit_f", main, stacks=stacks)
    known = 0
    for size in range(len(data)):
        module, _ = read(data[:size])
        count = len(module.instructions()["name"])
        assert count >= known
        known = count
        assert (module.damaged is None) == (size == 0)
    assert known == 4


def test_a_bad_wire_type_is_told() -> None:
    module, _ = read(blob(1, blob(1, "jit_f") + b"\x1b"))
    assert module.name == "jit_f"
    assert module.damaged is not None
    assert "invalid wire type" in module.damaged
    assert read(number(9, 1))[0].damaged is None
