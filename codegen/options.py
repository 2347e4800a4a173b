"""Options of a generation, as the command line or a caller gives them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

REGISTRATION = "RegisterCodegenUnboxedKernels.cpp"
"""The registration's source, unless the user names it differently."""

TESTED_EXECUTORCH = ("1.3.1", "1.5.1")
"""The releases of ExecuTorch against whose headers and runtime the tests run."""

SHELLS = ("bash", "zsh", "fish")
"""The shells that `--completion` writes scripts for."""


class Options(NamedTuple):
    """What to generate besides the plan.

    `static_registration`: register at static initialisation, not only on call. `stack_api`: the
    `EValue** stack` form of ExecuTorch 0.7 and older. `aten`: for ExecuTorch's ATen mode, where
    tensors are PyTorch's. `exception_boundary`: turn exceptions of kernels into errors.
    `pytorch`: also the sources that register custom operators into PyTorch.
    `whole_runtime`: runtime_features.h names every part, whatever the models need.
    `template_dir`: templates found there replace the ones of this package.
    `registration_source`: name of the C++ file with the registration.
    """

    static_registration: bool = False
    stack_api: bool = False
    aten: bool = False
    exception_boundary: bool = False
    pytorch: bool = False
    whole_runtime: bool = False
    template_dir: Path | None = None
    registration_source: str = REGISTRATION
