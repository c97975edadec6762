"""`laststep diagnose` reads files, standard input and folders, and speaks to people and to programs."""

import json

import pytest

KILLED = "RuntimeError: DataLoader worker (pid 2978) is killed by signal: Killed.\n"


def test_a_log_is_explained(laststep, tmp_path):
    (tmp_path / "train.log").write_text(KILLED)
    told = laststep("diagnose", tmp_path / "train.log").stdout.decode()

    assert told.startswith("host-memory.worker-oom-killed  likely, ")
    assert "line 1  RuntimeError: DataLoader worker" in told
    assert "→ Fewer workers" in told


def test_it_speaks_chinese(laststep, tmp_path):
    (tmp_path / "train.log").write_text(KILLED)

    assert (
        "数据加载进程因主机内存不足被杀" in laststep("diagnose", "--lang", "zh", tmp_path / "train.log").stdout.decode()
    )


def test_json_has_what_was_agreed(laststep, tmp_path):
    (tmp_path / "run.sh").write_text("docker run --memory 4g image python train.py")
    told = laststep("diagnose", "--json", "--command-file", tmp_path / "run.sh", "-", input=KILLED.encode()).stdout
    values = json.loads(told)

    assert values["cause"] == "host-memory.container-limit"
    assert set(values) == {
        "cause", "certainty", "confidence", "explanation", "evidence", "remedies", "alternatives", "also", "path",
        "where", "retry",
    }  # fmt: skip
    assert values["evidence"][0].keys() == {"source", "line", "text"}
    assert values["remedies"][0].keys() == {"title", "class", "command"}


def test_a_folder_of_logs_is_read_in_one_go(laststep, tmp_path):
    (tmp_path / "a.log").write_text(KILLED)
    (tmp_path / "b.log").write_text(KILLED)
    (tmp_path / "b.command").write_text("#SBATCH --mem=4G")
    told = [json.loads(line) for line in laststep("diagnose", "--json", "--batch", tmp_path).stdout.splitlines()]

    assert [one["cause"] for one in told] == ["host-memory.worker-oom-killed", "host-memory.container-limit"]
    assert told[0]["path"].endswith("a.log")


def test_a_file_that_is_not_there_is_an_error(laststep, tmp_path):
    there = tmp_path / "there.log"
    there.touch()
    none = tmp_path / "none"
    for words in ([none], ["--command-file", none, there], ["--batch", none], ["--batch", there]):
        refused = laststep("diagnose", *words)
        assert refused.returncode == 2
        assert str(words[-1] if words[0] == "--batch" else none).encode() in refused.stderr
        assert b"itself failed" not in refused.stderr


def test_a_cause_has_a_page_and_all_are_listed(laststep):
    page = laststep("explain", "disk.full").stdout.decode()
    listed = laststep("explain", "--list", "--lang", "zh").stdout.decode()
    refused = laststep("explain", "disk.nothing")

    assert "No space left on device" in page
    assert "https://" in page
    assert "目标磁盘已满" in listed
    assert len(listed.splitlines()) >= 75
    assert refused.returncode == 2


def test_a_run_is_named_as_runs_names_it(laststep, trainer):
    laststep("run", "--", *trainer, "--end", "kill")
    told = laststep("diagnose", "last", "--json")
    values = json.loads(told.stdout)

    assert values["path"] == str(laststep.folder())
    assert (values["where"]["rank"], values["where"]["target_step"]) == (0, 5)
    assert values["evidence"]
    assert all(
        evidence["text"] in (laststep.folder() / evidence["source"]).read_text() for evidence in values["evidence"]
    )
    assert values == json.loads(laststep("diagnose", laststep.folder(), "--json").stdout)


def test_a_name_that_nothing_goes_by_says_so(laststep):
    told = laststep("diagnose", "nothing")

    assert told.returncode == 2
    assert b"Traceback" not in told.stderr


@pytest.mark.parametrize(
    ("line", "worth"),
    [
        (KILLED, "after-change"),
        ("OSError: [Errno 28] No space left on device\n", "after-repair"),
        ("slurmstepd: error: *** JOB 7 ON node CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***\n", "as-is"),
        ("nothing\n", "open"),
    ],
)
def test_whether_trying_again_is_worth_it_is_a_claim_of_its_own(laststep, line, worth):
    assert json.loads(laststep("diagnose", "--json", "-", input=line.encode()).stdout)["retry"]["worth"] == worth
