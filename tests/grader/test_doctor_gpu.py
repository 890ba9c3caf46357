"""What `doctor` says about GPUs, and the container's variants. A script stands in for `nvidia-smi`."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader import cli
from grader.course.curriculum import ROOT
from grader.learner import gpu

NEEDS_SCRIPTS = pytest.mark.skipif(os.name == "nt", reason="Windows cannot run the stand-in, a shell script")
STAGES = re.findall(r"^FROM \S+ AS (\w+)", (ROOT / "Containerfile").read_text(encoding="utf-8"), re.MULTILINE)


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, says: str, cuda: str | None = None) -> None:
    """A machine whose `nvidia-smi` prints this, with a PyTorch that was built for this version of CUDA."""
    command = folder / "nvidia-smi"
    command.write_text(f"#!/bin/sh\n{says}\n")
    command.chmod(0o755)
    (folder / "version.py").write_text(f"from typing import Optional\ncuda: Optional[str] = {cuda!r}\n")
    torch = SimpleNamespace(origin=str(folder / "__init__.py"))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: torch)


@NEEDS_SCRIPTS
@pytest.mark.parametrize(
    "capability, driver, cuda, unmet",
    [
        ("9.0", "580.95.05", "13.0", []),
        ("12.0", "610.10", "13.2", []),
        ("8.6", "525.60.13", "12.6", []),
        ("7.5", "580.95.05", "13.0", ["GPU"]),
        ("8.9", "570.86.10", "13.0", ["driver"]),
        ("8.9", "580.95.05", None, ["torch's CUDA"]),
        ("6.1", "470.1", "12.6", ["GPU", "driver"]),
    ],
)
def test_each_condition_is_checked(
    capability: str,
    driver: str,
    cuda: str | None,
    unmet: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand_in(tmp_path, monkeypatch, f"echo 'Some GPU, {capability}, {driver}'", cuda)
    monkeypatch.setattr(gpu, "c_compiler", lambda: "gcc")
    assert [fact.name for fact in gpu.facts() if not fact.met] == unmet


@NEEDS_SCRIPTS
@pytest.mark.parametrize("says", ["exit 9", "echo 'No devices were found'", "echo 'GPU, [N/A], 390.1'"])
def test_an_unusable_answer_counts_as_no_gpu(says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, says)
    assert gpu.find_gpus() == []
    assert [fact.name for fact in gpu.facts()] == ["GPU"]


@NEEDS_SCRIPTS
def test_the_report_names_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(tmp_path, monkeypatch, "echo 'Tesla T4, 7.5, 535.1'", "13.0")
    cli.main(["doctor"])
    text = capsys.readouterr().out
    assert "Tesla T4, compute capability 7.5  (Triton needs compute capability 8.0 or higher)" in text
    assert "535.1  (CUDA 13.0 needs driver 580 or newer)" in text
    assert "--device cuda" not in text


def test_cuda_is_read_as_torch_reports_it() -> None:
    torch = pytest.importorskip("torch")
    assert gpu.cuda_of_torch() == (torch.version.cuda or "")


def test_every_dev_container_builds_the_container_file() -> None:
    files = sorted((ROOT / ".devcontainer").rglob("devcontainer.json"))
    assert len(files) == 2
    for file in files:
        build = json.loads(file.read_text(encoding="utf-8"))["build"]
        assert (file.parent / build["dockerfile"]).resolve() == ROOT / "Containerfile"
        assert (file.parent / build["context"]).resolve() == ROOT
        assert build["target"] in STAGES


def test_every_service_builds_the_container_file() -> None:
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    for service in services.values():
        assert (service["build"]["dockerfile"], service["build"]["target"] in STAGES) == ("Containerfile", True)
    assert services["gpu"]["build"]["args"]["TORCH"].startswith("cu")


def test_the_container_file_finds_its_packages(tmp_path: Path) -> None:
    """The RUN command that lists the packages for pip, run on this machine."""
    file = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("\\\n", "")
    program = re.search(r"RUN python -c '(.*?)'", file)
    assert program
    code = program[1].replace("/course/", f"{ROOT.as_posix()}/")
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    names = {re.split(r"\W", line)[0] for line in listed.splitlines()}
    assert names >= {"hypothesis", "numpy", "pytest", "triton", "torch", "numba", "matplotlib"}
