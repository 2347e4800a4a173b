"""Planned memory over time: no two tensors in the same bytes at the same time, views as one."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from gen_kernels.selective.memory_map import BEFORE, BufferMap, Occupant, memory_map
from gen_kernels.selective.memory_plan import planned_total, pools
from gen_kernels.selective.models import load_models
from gen_kernels.selective.program import Method
from gen_kernels.selective.pte import parse_program

from tests.support import pte_builder as build
from tests.support.check_model import find
from tests.support.models import thirdparty

MODELS = Path(__file__).parent.parent / "models"


def methods() -> list[tuple[str, Method]]:
    folders = [str(MODELS), *([str(thirdparty())] if thirdparty() else [])]
    models, _ = load_models(folders)
    return [
        (f"{Path(model.display).stem}-{method.name}", method)
        for model in models
        for method in model.program.methods
    ]


METHODS = methods()


def written(name: str) -> list[int]:
    entry = find(name)
    arguments = entry.schema.arguments if entry else ()
    return [at for at, item in enumerate(arguments) if item.is_write or item.name == "scratch"]


@pytest.mark.parametrize("method", [m for _, m in METHODS], ids=[name for name, _ in METHODS])
def test_places_and_times_do_not_collide(method: Method) -> None:
    """The planner gave tensors places so that no two that live at once share a byte."""
    placed = set()
    for part in memory_map(method, written):
        assert 0 <= part.peak <= part.size
        for item in part.occupants:
            assert item.buffer == part.buffer
            assert BEFORE <= item.start <= item.end
            assert item.offset + item.size <= part.size
            placed.update(item.values)
        for one, other in combinations(part.occupants, 2):
            apart_in_time = one.end < other.start or other.end < one.start
            end, other_end = one.offset + one.size, other.offset + other.size
            apart_in_space = end <= other.offset or other_end <= one.offset
            assert apart_in_time or apart_in_space, (one, other)
    planned = {
        index
        for index, value in enumerate(method.values)
        if value.tensor and value.tensor.allocation and value.tensor.nbytes
    }
    assert placed <= planned
    used = {i for c in method.chains for item in c.instructions for i in getattr(item, "args", ())}
    assert planned & used <= placed


def map_of(
    values: list[build.Table], instructions: list[build.Table], **fields: object
) -> BufferMap:
    plan = build.method(values, instructions, ["a::f"], buffers=[64], **fields)  # type: ignore[arg-type]
    data = build.serialise(build.program([plan]))
    (part,) = memory_map(parse_program(data, len(data)).methods[0])
    return part


def at(place: int, sizes: list[int] | None = None) -> build.Table:
    return build.tensor(sizes or [4], place=(1, place))


def test_a_view_is_one_with_what_was_written() -> None:
    """%1 is written as 4, read as 2x2, which nobody wrote; then %3 takes the place over."""
    part = map_of(
        [at(0), at(16), at(16, [2, 2]), at(32), at(16)],
        [build.call(0, [0, 1]), build.call(0, [2, 3]), build.call(0, [3, 4])],
        inputs=[0],
        outputs=[4],
    )
    assert part.occupants == (
        Occupant(1, 0, 16, BEFORE, 0, (0,), "input"),
        Occupant(1, 16, 16, 0, 1, (1, 2)),
        Occupant(1, 32, 16, 1, 2, (3,)),
        Occupant(1, 16, 16, 2, 2, (4,), "output"),
    )
    assert (part.peak, part.peak_at) == (32, 0)


def test_state_lives_all_the_time() -> None:
    part = map_of([at(0), at(16)], [build.call(0, [0, 1]), build.call(0, [1, 0])], outputs=[1])
    assert part.occupants[0] == Occupant(1, 0, 16, BEFORE, 1, (0,), "state")


def test_a_move_keeps_the_bytes_alive() -> None:
    """%1 is moved to the output %2, which has no place of its own."""
    values = [at(0), at(16), build.tensor([4]), at(32)]
    calls = [build.call(0, [0, 1]), build.move(1, 2), build.call(0, [0, 3])]
    part = map_of(values, calls, inputs=[0], outputs=[2])
    assert Occupant(1, 16, 16, 0, 2, (1,), "output") in part.occupants


def test_a_loop_keeps_what_it_reads() -> None:
    """%1 is last read at 1, but the loop from 1 to 3 reads it again."""
    values = [at(0), at(16), at(32), build.boolean(False)]
    calls = [
        build.call(0, [0, 1]),
        build.call(0, [1, 2]),
        build.call(0, [2, 2]),
        build.jump(3, 1),
    ]
    part = map_of(values, calls, inputs=[0], outputs=[2])
    assert Occupant(1, 16, 16, 0, 3, (1,)) in part.occupants


def test_empty_tensors_take_no_place() -> None:
    part = map_of([at(0, [0]), at(0)], [build.call(0, [0, 1])])
    assert [item.values for item in part.occupants] == [(1,)]


def test_planned_pool_is_aligned() -> None:
    plan = build.method([], [], [], buffers=[1, 17, 16])
    data = build.serialise(build.program([plan]))
    method = parse_program(data, len(data)).methods[0]
    assert planned_total(method) == 16 + 32 + 16
    assert pools(method, 4).executorch_temp == 0
