"""The `.pte` reader: bytes -> Program. Reads the program only, never the segments behind it.

Source of the format: ExecuTorch's schema/program.fbs and extended_header.h (1.5.1).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..codegen.diagnostics import Diagnostic
from . import pte_schema as schema
from .flatbuffer import Buffer, Bytes, FormatError, Table
from .model_file import open_model, open_models
from .program import Chain, Delegate, Method, Offsets, Program, Segment
from .pte_values import Shape, parse_frames, parse_instruction, parse_operator, parse_value, text

IDENTIFIER = b"ET12"
HEADER_MAGIC = b"eh00"
_HEADER_LENGTH = 24  # without the size of the segments, which newer files add

Parsed = TypeVar("Parsed")


def read_program(path: Path, display: str) -> tuple[Program | None, tuple[Diagnostic, ...]]:
    """The program in the file at `path`, which messages call `display`.

    The file may be a `.pte`, a bundled program or a C array of either. None when it has errors.
    """
    return open_model(path, display, parse_program)


def read_programs(
    path: Path, display: str
) -> tuple[tuple[tuple[str, Program], ...], tuple[Diagnostic, ...]]:
    """The programs in a file, each with what messages call it: C source can hold several."""
    return open_models(path, display, parse_program)


def parse_program(data: Bytes, size: int) -> Program:
    """The program at the beginning of `data`, of which there are `size` bytes in all.

    `data` holds at least the program; what lies behind it is not touched. Raises FormatError
    when the bytes are damaged, cut, or no program.
    """
    if bytes(data[4:8]) != IDENTIFIER:
        raise FormatError("not an ExecuTorch program", 4, "file identifier")
    header = read_header(data, size)
    root = Buffer(data, header.program_size).root(schema.PROGRAM)
    segments = tuple(
        Segment(table.u64("offset"), table.u64("size"))
        for table in root.tables("segments", schema.SEGMENT)
    )
    for number, segment in enumerate(segments):
        end = header.segment_base + segment.offset + segment.size
        if end > size:
            raise FormatError(
                f"segment {number} ends at byte {end}, the file at {size}: the file is cut",
                size,
                "Program.segments",
            )
    inline_delegates = tuple(
        table.blob("data")[1] for table in root.tables("backend_delegate_data", schema.INLINE_DATA)
    )
    inline_constants = tuple(
        table.blob("storage")[1] for table in root.tables("constant_buffer", schema.BUFFER)
    )
    found = root.table("constant_segment", schema.OFFSETS)
    constants = _offsets(found) if found else Offsets(0, ())
    mutable_tables = list(root.tables("mutable_data_segments", schema.OFFSETS))
    mutables = tuple(map(_offsets, mutable_tables))
    extents = _Extents(
        segments=tuple(segment.size for segment in segments),
        delegates=inline_delegates,
        constants=_rooms(constants, segments, found or root) or inline_constants,
        mutables=tuple(
            _rooms(item, segments, table)
            for item, table in zip(mutables, mutable_tables, strict=True)
        ),
    )
    named_data = []
    for table in root.tables("named_data", schema.NAMED):
        segment_index = table.u32("segment_index")
        _check(segment_index, len(segments), table, "segment_index")
        named_data.append((text(table, "key"), segment_index))
    return Program(
        version=root.u32("version"),
        methods=_each(
            root.tables("execution_plan", schema.PLAN),
            "method",
            lambda table: _method(table, extents),
        ),
        size=size,
        program_size=header.program_size,
        segment_base=header.segment_base,
        segments=segments,
        constants=constants,
        inline_constants=inline_constants,
        inline_delegates=inline_delegates,
        mutable_segments=mutables,
        named_data=tuple(named_data),
        has_header=header.present,
    )


class Header(NamedTuple):
    """The extended header; without one the whole file is the program."""

    program_size: int
    segment_base: int
    present: bool


def read_header(data: Bytes, size: int, position: int = 8) -> Header:
    """The extended header at byte `position` of a file of `size` bytes. Raises FormatError."""
    head = bytes(data[position : position + _HEADER_LENGTH + 8])
    if head[:4] != HEADER_MAGIC:
        return Header(size, 0, present=False)
    where = "extended header"
    if len(head) < _HEADER_LENGTH:
        raise FormatError("the file ends in it", size, where)
    length, program_size, segment_base = struct.unpack_from("<IQQ", head, 4)
    if length < _HEADER_LENGTH:
        raise FormatError(f"it is {length} bytes long, not {_HEADER_LENGTH}", position + 4, where)
    segment_size = 0
    if length >= _HEADER_LENGTH + 8 and len(head) == _HEADER_LENGTH + 8:
        (segment_size,) = struct.unpack_from("<Q", head, _HEADER_LENGTH)
    if program_size > size:
        raise FormatError(
            f"the program takes {program_size} bytes, the file has {size}: the file is cut",
            position + 8,
            where,
        )
    if segment_base + segment_size > size:
        raise FormatError(
            f"the segments end at byte {segment_base + segment_size}, the file at {size}: "
            "the file is cut",
            position + 16,
            where,
        )
    return Header(program_size, segment_base, present=True)


def _each(
    tables: Iterable[Table], what: str, parse: Callable[[Table], Parsed]
) -> tuple[Parsed, ...]:
    """Parse each table; errors get "<what> <number>" as their place."""
    parsed: list[Parsed] = []
    try:
        for table in tables:
            parsed.append(parse(table))
    except FormatError as error:
        raise error.within(f"{what} {len(parsed)}") from None
    return tuple(parsed)


def _check(index: int, count: int, table: Table, field: str, least: int = 0) -> int:
    if not least <= index < count:
        raise table.error(f"index {index} of {count}", field)
    return index


def _offsets(table: Table) -> Offsets:
    return Offsets(table.u32("segment_index"), table.numbers("offsets", "Q"))


class _Extents(NamedTuple):
    """Bytes of segments and inline delegates; bytes there are from each data index on."""

    segments: tuple[int, ...]
    delegates: tuple[int, ...]
    constants: tuple[int, ...]
    mutables: tuple[tuple[int, ...], ...]


def _rooms(offsets: Offsets, segments: tuple[Segment, ...], table: Table) -> tuple[int, ...]:
    """For each offset the bytes from there to the end of its segment."""
    if not offsets.offsets:
        return ()
    size = segments[_check(offsets.segment, len(segments), table, "segment_index")].size
    return tuple(size - offset for offset in offsets.offsets)


def _method(table: Table, extents: _Extents) -> Method:
    try:
        name = text(table, "name")
    except FormatError as error:
        raise error.within("its name") from None
    operators = _each(table.tables("operators", schema.OPERATOR), "operator", parse_operator)
    delegates = _each(
        table.tables("delegates", schema.DELEGATE),
        "delegate",
        lambda delegate: _delegate(delegate, extents),
    )
    values = list(table.tables("values", schema.EVALUE))
    buffer_sizes = table.numbers("non_const_buffer_sizes", "q")
    if min(buffer_sizes, default=0) < 0:
        raise table.error(f"a size of {min(buffer_sizes)}", "non_const_buffer_sizes")
    shape = Shape(
        len(values),
        len(operators),
        len(delegates),
        buffer_sizes,
        extents.constants,
        extents.mutables,
    )
    devices = []
    for device in table.tables("non_const_buffer_device", schema.DEVICE):
        index = _check(device.i32("buffer_idx"), len(buffer_sizes), device, "buffer_idx")
        devices.append((index, device.i8("device_type"), device.i8("device_index")))
    container = table.table("container_meta_type", schema.CONTAINER)
    return Method(
        name=name,
        values=_each(values, "value", lambda value: parse_value(value, shape)),
        inputs=shape.value_indices(table, "inputs"),
        outputs=shape.value_indices(table, "outputs"),
        chains=_each(
            table.tables("chains", schema.CHAIN), "chain", lambda chain: _chain(chain, shape)
        ),
        operators=operators,
        delegates=delegates,
        buffer_sizes=buffer_sizes,
        devices=tuple(devices),
        input_structure=container.string("encoded_inp_str") if container else "",
        output_structure=container.string("encoded_out_str") if container else "",
    )


def _chain(table: Table, shape: Shape) -> Chain:
    instructions = list(table.tables("instructions", schema.INSTRUCTION))
    return Chain(
        inputs=shape.value_indices(table, "inputs"),
        outputs=shape.value_indices(table, "outputs"),
        instructions=_each(
            instructions,
            "instruction",
            lambda instruction: parse_instruction(instruction, shape, len(instructions)),
        ),
        frames=tuple(map(parse_frames, table.tables("stacktrace", schema.FRAMES))),
    )


def _delegate(table: Table, extents: _Extents) -> Delegate:
    reference = table.need("processed", schema.REFERENCE)
    location = reference.i8("location")
    if location not in (0, 1):
        raise reference.error(f"unknown location {location}", "location")
    in_segment = location == 1
    sizes = extents.segments if in_segment else extents.delegates
    index = _check(reference.u32("index"), len(sizes), reference, "index")
    return Delegate(
        id=text(table, "id"),
        size=sizes[index],
        in_segment=in_segment,
        index=index,
        specs=tuple(
            (text(spec, "key"), spec.blob("value")[1])
            for spec in table.tables("compile_specs", schema.SPEC)
        ),
    )
