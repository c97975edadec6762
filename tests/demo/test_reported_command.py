"""The reported command in small is one command, wherever it is written."""

import shlex
from pathlib import Path

from laststep.demo.reported_command import ReportedRun, reported_argv, reported_environment

SCRIPT = Path(__file__).resolve().parents[2] / "lab" / "reported_run.sh"
RUN = ReportedRun(
    Path("/env/bin/python"), Path("/m"), Path("/data/rows.json"), Path("/out"), ranks=2, flags=("--seed", "1")
)


def test_the_script_for_the_hand_has_the_same_flags():
    written = SCRIPT.read_text().split("exec ", 1)[1].replace('"$@"', "").replace("\\\n", " ")
    values = {"$MODEL": "/m", "$DATA": "/data/rows.json", "$OUT": "/out"}
    words = [values.get(word, word) for word in shlex.split(written)][1:]  # without LAUNCH
    alone = ReportedRun(RUN.python, RUN.model, RUN.data, RUN.output_dir)
    assert sorted(words) == sorted(reported_argv(alone))


def test_further_flags_come_last_and_win():
    assert reported_argv(RUN)[-2:] == ["--seed", "1"]


def test_several_ranks_are_asked_for_by_the_environment():
    assert reported_environment(RUN, {"PATH": "/bin"})["NPROC_PER_NODE"] == "2"
    one = ReportedRun(RUN.python, RUN.model, RUN.data, RUN.output_dir)
    assert "NPROC_PER_NODE" not in reported_environment(one, {"NPROC_PER_NODE": "4"})


def test_the_training_environment_comes_first_on_the_path():
    assert reported_environment(RUN, {"PATH": "/bin"})["PATH"] == "/env/bin:/bin"
