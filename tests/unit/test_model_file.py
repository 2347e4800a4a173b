"""Every kind of file that a model comes in, and every wrong one, with the text users see."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from gen_kernels.codegen.diagnostics import Diagnostic
from gen_kernels.selective.models import load_models
from gen_kernels.selective.program import Program
from gen_kernels.selective.pte import read_program

from tests.support import pte_builder as build

MODELS = Path(__file__).parent.parent / "models"
ADD = (MODELS / "add.pte").read_bytes()
LENET = (MODELS / "lenet.pte").read_bytes()


def xxd(name: str, data: bytes) -> str:
    """What `xxd -i` prints."""
    lines = [
        "  " + ", ".join(f"0x{byte:02x}" for byte in data[start : start + 12])
        for start in range(0, len(data), 12)
    ]
    body = ",\n".join(lines)
    return f"unsigned char {name}[] = {{\n{body}\n}};\nunsigned int {name}_len = {len(data)};\n"


def pte_to_header(name: str, data: bytes) -> str:
    """The style of ExecuTorch's pte_to_header tool: attributes, a comma behind every element."""
    body = "".join(
        f"  {''.join(f'0x{byte:02x}, ' for byte in data[start : start + 16])}\n"
        for start in range(0, len(data), 16)
    )
    return (
        "// a model; made by a tool, {0x00, 0x01}\n#include <stdint.h>\n\n"
        f'__attribute__((section(".model"), aligned(16))) const uint8_t {name}[{len(data)}] '
        f"= {{\n{body}}}; /* end */\n"
    )


def one(tmp_path: Path, name: str, content: bytes | str) -> tuple[Program | None, list[Diagnostic]]:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    program, diagnostics = read_program(path, name)
    return program, list(diagnostics)


def reference(data: bytes, tmp_path: Path) -> Program:
    program, diagnostics = one(tmp_path, "reference.pte", data)
    assert not diagnostics
    assert program is not None
    return program


@pytest.mark.parametrize("style", [xxd, pte_to_header])
@pytest.mark.parametrize("data", [ADD, LENET], ids=["add", "lenet"])
def test_c_array_is_the_same_program(
    style: Callable[[str, bytes], str], data: bytes, tmp_path: Path
) -> None:
    program, diagnostics = one(tmp_path, "model.h", style("model_pte", data))
    assert not diagnostics
    assert program == reference(data, tmp_path)


def test_c_array_with_comments_and_other_arrays(tmp_path: Path) -> None:
    body = ",".join(f"{byte} /* {{{byte}, }} */" for byte in ADD)
    source = (
        "static const char names[][4] = {{'a', 'b'}, {'c'}};\n"
        "/* const char old[] = { 0, */\n"
        f"alignas(16) constexpr unsigned char pte[] = {{ // the program }}\n{body}}};\n"
        "const int after[] = {1, 2, 3};\n"
    )
    program, diagnostics = one(tmp_path, "model.cpp", source)
    assert not diagnostics
    assert program == reference(ADD, tmp_path)


def test_bundled_program_in_a_c_array(tmp_path: Path) -> None:
    bundled = (MODELS / "bundled_mlp.bpte").read_bytes()
    program, diagnostics = one(tmp_path, "bundled.h", xxd("bundled", bundled))
    assert not diagnostics
    assert program == read_program(MODELS / "bundled_mlp.bpte", "")[0]


def test_source_with_several_programs(tmp_path: Path) -> None:
    path = tmp_path / "models.h"
    mlp = (MODELS / "mlp.pte").read_bytes()
    path.write_text(xxd("encoder", ADD) + xxd("table", bytes(range(64))) + xxd("decoder", mlp))
    models, diagnostics = load_models([str(path)])
    assert not diagnostics
    assert [model.display for model in models] == [f"{path}[encoder]", f"{path}[decoder]"]
    assert {model.input for model in models} == {str(path)}
    expected = [reference(ADD, tmp_path), read_program(MODELS / "mlp.pte", "")[0]]
    assert [model.program for model in models] == expected


def test_one_damaged_program_of_several(tmp_path: Path) -> None:
    path = tmp_path / "models.h"
    path.write_text(xxd("encoder", ADD) + xxd("decoder", ADD[:200]))
    models, (diagnostic,) = load_models([str(path)])
    assert [model.display for model in models] == [f"{path}[encoder]"]
    assert (diagnostic.code, diagnostic.location.file) == ("GK203", f"{path}[decoder]")


def test_bundled_program_is_the_program_inside(tmp_path: Path) -> None:
    bundled = build.serialise({0: build.Num("I", 0), 2: ADD}, b"BP08")
    program, diagnostics = one(tmp_path, "model.bpte", bundled)
    assert not diagnostics
    assert program == reference(ADD, tmp_path)


def test_folder_pattern_and_repeats(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "a.pte").write_bytes(ADD)
    (tmp_path / "deep" / "er" / "b [1].pte").write_bytes(ADD)
    (tmp_path / "deep" / "notes.txt").write_text("no model")
    folder = str(tmp_path / "deep")
    names = [folder, f"{folder}/a.pte", f"{folder}/**/*.pte", f"{folder}/er/b [1].pte"]
    models, diagnostics = load_models(names)
    assert not diagnostics
    assert [model.display for model in models] == [f"{folder}/a.pte", f"{folder}/er/b [1].pte"]
    assert load_models(list(reversed(names)))[0] == models


@pytest.mark.parametrize("redirected", [True, False])
def test_standard_input(redirected: bool) -> None:
    code = (
        "from gen_kernels.selective.models import load_models\n"
        "models, diagnostics = load_models(['-'])\n"
        "print(models[0].display, models[0].program.methods[0].operators, diagnostics)\n"
    )
    with (MODELS / "add.pte").open("rb") as file:
        result = subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            **({"stdin": file} if redirected else {"input": ADD}),  # type: ignore[call-overload]
        )
    assert result.stdout.strip() == b"- ('aten::add.out',) ()"


def test_endless_input_that_is_no_model_is_not_read_on() -> None:
    code = (
        "from gen_kernels.selective.models import load_models\n"
        "print(load_models(['/dev/zero'])[1][0].code)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, timeout=20
    )
    assert result.stdout.strip() == b"GK202"


HEADER_CUT = build.with_header(build.serialise(build.add_program()))
WITH_SEGMENT = build.with_header(
    build.serialise({**build.add_program(), 4: [{0: build.Num("Q", 0), 1: build.Num("Q", 8)}]}),
    b"12345678",
)

WRONG = [
    ("empty.pte", b"", "GK201", "the file is empty"),
    ("one.pte", b"\x18", "GK202", "not a .pte program: only 1 bytes"),
    (
        "foreign.pte",
        bytes(range(1, 40)),
        "GK202",
        "not a .pte program: bytes 4 to 7 are b'\\x05\\x06\\x07\\x08', not b'ET12'",
    ),
    (
        "data.ptd",
        (MODELS / "ptd_mlp.ptd").read_bytes(),
        "GK202",
        "this is tensor data (.ptd), not a .pte program",
    ),
    (
        "net.tflite",
        b"\x1c\0\0\0TFL3" + bytes(40),
        "GK202",
        "this is a TensorFlow Lite model, not a .pte program",
    ),
    (
        "net.pt",
        b"PK\x03\x04" + bytes(40),
        "GK202",
        "this is a zip archive, perhaps a torch.save or torch.export file, not a .pte program",
    ),
    (
        "a.out",
        b"\x7fELF\x02" + bytes(40),
        "GK202",
        "this is an ELF object or program, not a .pte program",
    ),
    ("m.gz", b"\x1f\x8b" + bytes(40), "GK202", "this is a gzip file, not a .pte program"),
    (
        "lfs.pte",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1072\n",
        "GK202",
        "this is a Git LFS pointer, not the file itself, not a .pte program",
    ),
    (
        "new.pte",
        ADD[:4] + b"ET13" + ADD[8:],
        "GK204",
        "format 'ET13'; this version reads 'ET12'",
    ),
    (
        "cut8.pte",
        ADD[:8],
        "GK203",
        "damaged at byte 28 (Program): the table lies behind byte 8, the end",
    ),
    (
        "cut.pte",
        LENET[:2000],
        "GK203",
        "damaged at byte 16 (extended header): the program takes 6728 bytes, the "
        "file has 2000: the file is cut",
    ),
    (
        "cut2.pte",
        LENET[:-1],
        "GK203",
        "damaged at byte 24 (extended header): the segments end at byte 253704, "
        "the file at 253703: the file is cut",
    ),
    (
        "head.pte",
        HEADER_CUT[:20],
        "GK203",
        "damaged at byte 20 (extended header): the file ends in it",
    ),
    (
        "length.pte",
        HEADER_CUT[:12] + b"\x07" + HEADER_CUT[13:],
        "GK203",
        "damaged at byte 12 (extended header): it is 7 bytes long, not 24",
    ),
    (
        "root.pte",
        b"\xff\xff\xff\x7f" + ADD[4:],
        "GK203",
        "damaged at byte 2147483647 (Program): the table lies behind byte 1072, the end",
    ),
    (
        "zero.pte",
        b"\0\0\0\0ET12" + bytes(64),
        "GK203",
        "damaged at byte 0 (Program): vtable of 0 bytes",
    ),
    (
        "models.h",
        xxd("encoder", ADD) + xxd("decoder", ADD),
        "GK206",
        "2 programs in one file (models.h[encoder], models.h[decoder])",
    ),
    ("empty.h", "#pragma once\n", "GK206", "no array begins like a .pte program"),
    (
        "cut.h",
        xxd("model", ADD)[:3000],
        "GK206",
        "array 'model' has no end: the file is cut",
    ),
    (
        "odd.h",
        xxd("model", ADD).replace("0x00\n}", "WHAT\n}"),
        "GK206",
        "array 'model' has elements that are not numbers",
    ),
    (
        "short.h",
        xxd("model", ADD[:200]),
        "GK203",
        "damaged at byte ",
    ),
    (
        "inner.bpte",
        build.serialise({0: build.Num("I", 0), 2: b"not a program"}, b"BP08"),
        "GK202",
        "not a .pte program: bytes 4 to 7 are b'a pr', not b'ET12'",
    ),
    (
        "no_program.bpte",
        build.serialise({0: build.Num("I", 0)}, b"BP08"),
        "GK202",
        "a bundled program (.bpte) without a program in it",
    ),
    (
        "segment.pte",
        WITH_SEGMENT[:32] + bytes(8) + WITH_SEGMENT[40:-4],
        "GK203",
        f"damaged at byte {len(WITH_SEGMENT) - 4} (Program.segments): segment 0 "
        f"ends at byte {len(WITH_SEGMENT)}, the file at {len(WITH_SEGMENT) - 4}: the file is cut",
    ),
]


@pytest.mark.parametrize(("name", "content", "code", "message"), WRONG, ids=[w[0] for w in WRONG])
def test_wrong_file(
    name: str, content: bytes | str, code: str, message: str, tmp_path: Path
) -> None:
    program, diagnostics = one(tmp_path, name, content)
    assert program is None
    (diagnostic,) = diagnostics
    assert diagnostic.code == code
    assert diagnostic.message.startswith(message)
    assert "\n" not in diagnostic.message
    assert diagnostic.location.file == name


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("nowhere.pte", "GK200", "cannot read the model: No such file or directory"),
        ("*.nothing", "GK205", "no file matches this pattern"),
        ("", "GK205", "a model's name is empty"),
        ("x" * 5000, "GK200", "cannot read the model: File name too long"),
        ("nul\0byte", "GK200", "cannot read the model: embedded null byte"),
    ],
)
def test_wrong_name(name: str, code: str, message: str) -> None:
    models, diagnostics = load_models([name])
    assert models == ()
    assert [(d.code, d.message) for d in diagnostics] == [(code, message)]


def test_folder_without_models(tmp_path: Path) -> None:
    _, (diagnostic,) = load_models([str(tmp_path)])
    assert diagnostic.code == "GK205"
    assert diagnostic.message == "no .pte or .bpte file in this folder"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_without_permission(tmp_path: Path) -> None:
    (tmp_path / "m.pte").write_bytes(ADD)
    (tmp_path / "m.pte").chmod(0)
    _, (diagnostic,) = load_models([str(tmp_path / "m.pte")])
    assert diagnostic.message.endswith("Permission denied")
