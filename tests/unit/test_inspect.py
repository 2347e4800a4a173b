"""The reports of a model: text, JSON, the page."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from gen_kernels.codegen import cli
from gen_kernels.selective.constants import integer_constants
from gen_kernels.selective.inspect import text_report
from gen_kernels.selective.inspect_html import page, plots
from gen_kernels.selective.models import Model, load_models
from gen_kernels.selective.ptd import parse_tensors
from gen_kernels.selective.pte import parse_program
from gen_kernels.selective.report import ModelFacts, coverage_counts, model_facts
from gen_kernels.selective.report_json import model_json

from tests.support import pte_builder as build
from tests.support.check_model import find

MODELS = Path(__file__).parent.parent / "models"
FACTS = json.loads((MODELS / "models.json").read_text())
DRAWN = ("lenet", "mbv2_tiny", "lstm", "cond", "mutable_buffer", "xnnpack_full", "add")


def facts_of(name: str) -> ModelFacts:
    (model,), diagnostics = load_models([str(MODELS / FACTS[name]["file"])])
    assert not diagnostics
    return model_facts(Model(FACTS[name]["file"], model.program), find)


def test_text_of_a_model_with_a_branch(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["inspect", str(MODELS / "cond.pte"), "--calls"]) == 0
    text = capsys.readouterr().out
    assert "6 kernel calls, 2 moves, 2 jumps" in text
    assert "input 0   Bool[]\n  input 1   Float[3, 4]\n  output 0   Float[3, 4]\n" in text
    assert re.search(r"aten::sin\.out +1 +portable +portable/\w+\.cpp +Float\n", text)
    assert "planned buffer 1: 224 bytes, most in use 148 at 3\n" in text
    assert "    4  move %8 Float[3, 4] -> %2\n" in text
    assert "    5  if not %16: go to 10\n" in text


def test_text_of_delegates_and_state() -> None:
    text = text_report(facts_of("xnnpack_full"))
    assert "delegate 0: XnnpackBackend, 7,088 bytes, segment 1\n" in text
    assert "coverage (calls): 2 delegate, 1 portable\n" in text
    assert "named data: 20 entries\n" in text
    text = text_report(facts_of("xnnpack_inline_delegate"))
    assert "no operators: everything runs in delegates\n" in text
    assert "1,280 bytes, in the program\n" in text
    text = text_report(facts_of("mutable_buffer"))
    assert "state kept between runs: 2 tensors, 56 bytes\n" in text


def test_numbers_that_are_computed_are_named_not_shown() -> None:
    values = [build.tensor([2], place=(1, 0)), build.integer(0), build.integer(7)]
    calls = [build.call(0, [0, 1, 2]), build.call(1, [2, 1, 2])]
    names = ["aten::sym_size.int", "executorch_prim::add.Scalar"]
    data = build.serialise(build.program([build.method(values, calls, names, buffers=[16])]))
    facts = model_facts(Model("m.pte", parse_program(data, len(data))), find)
    text = text_report(facts, with_calls=True)
    assert "aten::sym_size.int(%0 Float[2], 0) -> %2 int\n" in text
    assert "executorch_prim::add.Scalar(%2 int, 0) -> %2 int\n" in text


def test_unknown_operators_are_missing() -> None:
    (method,) = facts_of("custom_op").methods
    missing = [item.name for item in method.operators if item.coverage == "missing"]
    assert missing == ["my_ops::mul3.out", "my_ops::scale_shift.out"]
    assert coverage_counts(method)["missing"] == 3


@pytest.mark.parametrize("name", sorted(n for n, f in FACTS.items() if "methods" in f))
def test_json_says_what_the_official_reader_says(name: str) -> None:
    document = json.loads(json.dumps(model_json(facts_of(name)), allow_nan=False))
    said = FACTS[name]["methods"]
    assert document["num_methods"] == len(said)
    for method, expected in zip(document["methods"], said, strict=True):
        assert method["name"] == expected["name"]
        assert len(method["values"]) == expected["n_values"]
        assert sum(map(len, method["chains"])) == expected["n_instructions"]
        calls = Counter(
            {item["name"]: item["calls"] for item in method["operators"] if item["calls"]}
        )
        assert calls == {k: v for k, v in expected["calls"].items() if not k.startswith("<")}
        assert [item["size"] for item in method["buffers"]] == expected["non_const_buffer_sizes"][
            1:
        ]
        assert [item["id"] for item in method["delegates"]] == expected["delegates"]


def test_json_has_no_infinities(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    values = [build.double(float("-inf")), build.items(build.DOUBLE_LIST, [float("nan"), 1.5])]
    path = tmp_path / "m.pte"
    path.write_bytes(build.serialise(build.program([build.method(values, [], [])])))
    assert cli.main(["inspect", str(path), "--json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    found = [item["value"] for item in document["methods"][0]["values"]]
    assert found == ["-inf", ["nan", 1.5]]


def test_data_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model, data = str(MODELS / "ptd_mlp.pte"), str(MODELS / "ptd_mlp.ptd")
    assert cli.main(["inspect", model, "--data", data]) == 0
    output = capsys.readouterr()
    assert "l1.weight (in a .ptd file)" in output.out
    assert not output.err
    other = tmp_path / "other.ptd"
    entry = {0: "l1.bias", 1: build.Num("I", 0)}
    root = {1: [{1: build.Num("Q", 0)}], 2: [entry]}
    other.write_bytes(build.serialise(root, b"FT01"))
    assert cli.main(["inspect", model, "--data", str(other)]) == 0
    assert "3 tensors of the model in no data file: l1.weight, l2.bias" in capsys.readouterr().err
    assert cli.main(["inspect", model, "--data", model]) == 1
    assert "damaged at byte 4 (file identifier)" in capsys.readouterr().err


def test_data_file_with_one_name_twice() -> None:
    """Found by the fuzzer: such entries were compared by their layouts, of which one has none."""
    shape = {0: build.Num("b", 6), 1: build.Vec("i", [2])}
    first = {0: "w", 1: build.Num("I", 0), 2: shape}
    root = {1: [{1: build.Num("Q", 0)}], 2: [first, {0: "w", 1: build.Num("I", 0)}]}
    data = build.serialise(root, b"FT01")
    assert [(t.name, t.dtype) for t in parse_tensors(data, len(data))] == [("w", 6), ("w", None)]


def test_wrong_model_prints_no_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["inspect", "nowhere.pte"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("nowhere.pte: error: cannot read the model")


class _Page(HTMLParser):
    """Counts tags, checks that they are balanced, collects what would be fetched."""

    VOID = ("meta", "rect", "line")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.tags: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", DRAWN)
def test_page_is_well_formed_and_self_contained(name: str) -> None:
    facts = facts_of(name)
    text = page([facts])
    parser = _Page()
    parser.feed(text)
    assert parser.open == []
    assert parser.fetched == []
    assert "url(" not in text
    assert "<script" not in text
    occupants = sum(len(part.occupants) for method in facts.methods for part in method.memory)
    boxes = text.count('class="box"')
    assert boxes == occupants > 0


def test_page_escapes() -> None:
    plan = build.method([build.text("x")], [], [], name="<script>alert(1)</script>")
    data = build.serialise(build.program([plan]))
    facts = model_facts(Model("a&b<i>.pte", parse_program(data, len(data))), find)
    text = page([facts])
    assert "<script" not in text
    assert "a&amp;b&lt;i&gt;.pte" in text


@pytest.mark.parametrize("name", DRAWN)
def test_labels_of_a_plot_fit_and_do_not_overlap(name: str) -> None:
    character, line = 6.7, 12
    for method in facts_of(name).methods:
        for plot in plots(method):
            spans = []
            for box in plot.boxes:
                assert plot.left <= box.x
                assert box.x + box.width <= plot.right + 0.5
                assert plot.top - 0.5 <= box.y
                assert box.y + box.height <= plot.bottom + 1
                for label in box.labels:
                    assert box.x + 4 + len(label.text) * character <= box.x + box.width + 1
                    spans.append((box.x, box.x + box.width, label.y - line, label.y))
            for index, (x1, x2, y1, y2) in enumerate(spans):
                for u1, u2, v1, v2 in spans[index + 1 :]:
                    assert x2 <= u1 + 0.1 or u2 <= x1 + 0.1 or y2 <= v1 + 1 or v2 <= y1 + 1
            ticks = sorted(tick.at for tick in plot.time_ticks)
            assert all(b - a >= 12 for a, b in pairwise(ticks))


@pytest.mark.slow
def test_page_in_a_browser(tmp_path: Path) -> None:
    """Chromium lays the page out: it is wider than nothing, and draws every box."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("chromium is not installed")
    path = tmp_path / "page.html"
    assert cli.main(["inspect", str(MODELS / "lenet.pte"), "--html", str(path)]) == 0
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", path.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert dom.count('class="box"') == path.read_text().count('class="box"')
    assert "Planned buffer 1: 194,080 bytes" in dom


def test_which_kernel_runs_each_call(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = str(MODELS / "cortexm_dscnn.pte")
    assert cli.main(["inspect", model, "--target", "cv32e40p", "--json"]) == 0
    (facts,) = json.loads(capsys.readouterr().out)
    rows = facts["methods"][0]["calls"]
    assert [row["instruction"] for row in rows] == list(range(16))
    kernel = "gen_kernels::corev::native::quantized_conv2d_out"
    assert rows[3] == {
        "chain": 0,
        "instruction": 3,
        "operator": "cortex_m::quantized_conv2d.out",
        "kernel": kernel,
        "path": "direct",
        "reason": "1 x 1: the image is the matrix",
    }
    assert cli.main(["inspect", model, "--target", "cv32e40p"]) == 0
    text = capsys.readouterr().out
    assert re.search(
        r"^ +3  cortex_m::quantized_conv2d.out +\S+ +direct +1 x 1", text, re.MULTILINE
    )
    written = str(tmp_path / "page.html")
    assert cli.main(["inspect", model, "--target", "cv32e40p", "--html", written]) == 0
    assert "<td>1 x 1: the image is the matrix</td>" in (tmp_path / "page.html").read_text()
    capsys.readouterr()
    assert cli.main(["inspect", str(MODELS / "add.pte"), "--target", "cv32e40p"]) == 0
    assert "portable  plain C++: portable/" in capsys.readouterr().out


@pytest.mark.parametrize(("model", "columns"), [("lenet", 3), ("ptd_mlp", 4)])
def test_constants_have_a_column_for_names_when_one_has_a_name(
    model: str, columns: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.html"
    assert cli.main(["inspect", str(MODELS / f"{model}.pte"), "--html", str(path)]) == 0
    capsys.readouterr()
    table = path.read_text().partition("<h3>Constants")[2].partition("</table>")[0]
    assert table.count("<th") - table.count("<thead") == columns
    rows = table.partition("<tbody>")[2].strip().removesuffix("</tbody>").strip().splitlines()
    assert rows
    assert all(row.count("<td") == columns for row in rows)
    assert ("(in a .ptd file)" in table) == (columns == 4)


def test_constants_that_cannot_be_read_are_taken_to_be_ordinary(tmp_path: Path) -> None:
    data = (MODELS / "cortexm_dscnn.pte").read_bytes()
    path = tmp_path / "model.pte"
    path.write_bytes(data)
    (model,), _ = load_models([str(path)])
    constants = integer_constants(model)
    assert len(constants) == 3 * 9 + 1  # bias, multipliers and shifts of nine convolutions; linear
    path.write_bytes(data[: model.program.program_size])
    assert integer_constants(model) == {}
