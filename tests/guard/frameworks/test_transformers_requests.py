"""A signal asks for a save instead of ending a rank, where nobody else handles it and as long as it trains."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from laststep_guard import wire
from laststep_guard.emit import Emitter
from laststep_guard.frameworks import transformers_requests
from laststep_guard.frameworks.transformers_requests import hook_stop
from laststep_guard.guardian import Guardian
from laststep_guard.guards.heartbeat import open_heartbeat
from laststep_guard.settings import Settings
from laststep_guard.shield import Shield
from laststep_guard.wire import Flag

SOURCE = Path(__file__).resolve().parents[3] / "src"
TERM, USR1 = signal.SIGTERM, signal.SIGUSR1


class Trainer:
    """The parts of transformers' trainer that are hooked."""

    def __init__(self, act):
        self.state = SimpleNamespace(global_step=3, max_steps=9)
        self.act = act

    def train(self):
        for begin in self.guardian.state.at_train_begin:
            begin(self)
        return self.act(self)

    def _maybe_log_save_evaluate(self):
        self.guardian.heartbeat.last_save = self.state.global_step
        self.guardian.heartbeat.beat()
        return "logged"


@pytest.fixture(autouse=True)
def _signals():
    """Begin with nobody listening, and leave it so."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in (TERM, USR1)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def make_trainer(tmp_path):
    def make(act, *, world_size=1, rank=0, max_steps=9):
        emitter = Emitter(str(tmp_path), rank)
        settings = Settings("test", beats_dir=str(tmp_path), requests_dir=str(tmp_path))
        guardian = Guardian(settings, emitter, Shield(emitter.emit), rank)
        guardian.heartbeat = open_heartbeat(str(tmp_path), rank=rank, local_rank=rank, world_size=world_size)
        guardian.state.world_size = guardian.state.local_world_size = world_size
        hooked = type("Trainer", (Trainer,), {**vars(Trainer), "guardian": guardian})
        hook_stop(SimpleNamespace(Trainer=hooked), guardian)
        trainer = hooked(act)
        trainer.state.max_steps = max_steps
        return trainer

    return make


def is_due(trainer):
    return any(ask(trainer) for ask in trainer.guardian.state.is_save_due)


def test_a_rank_listens_while_it_trains(make_trainer):
    def look(trainer):
        return trainer.guardian.heartbeat.flags, [signal.getsignal(number) for number in (TERM, USR1)]

    flags, handlers = make_trainer(look).train()

    assert flags == Flag.TAKES_REQUESTS
    assert signal.SIG_DFL not in handlers
    assert [signal.getsignal(number) for number in (TERM, USR1)] == [signal.SIG_DFL] * 2


def test_it_stops_listening_when_the_training_fails(make_trainer):
    def fail(_trainer):
        raise ValueError("bad row")

    trainer = make_trainer(fail)
    with pytest.raises(ValueError, match="bad row"):
        trainer.train()

    assert signal.getsignal(TERM) is signal.SIG_DFL
    assert Flag.TAKES_REQUESTS not in trainer.guardian.heartbeat.flags


def test_a_handler_of_the_users_own_stays_and_is_told(make_trainer):
    seen = []
    signal.signal(TERM, lambda *_: seen.append("theirs"))

    def be_told(trainer):
        os.kill(os.getpid(), TERM)
        return trainer.guardian.heartbeat.flags, is_due(trainer)

    flags, due = make_trainer(be_told).train()

    assert (seen, due) == (["theirs"], False)
    assert Flag.STOPS_BY_ITSELF in flags


def test_one_that_comes_during_the_training_is_told_as_well(make_trainer):
    """As transformers' own early saves install it."""

    def take_over(trainer):
        before = trainer.guardian.heartbeat.flags
        signal.signal(TERM, lambda *_: None)
        is_due(trainer)
        return before, trainer.guardian.heartbeat.flags

    before, after = make_trainer(take_over).train()

    assert Flag.STOPS_BY_ITSELF not in before
    assert Flag.STOPS_BY_ITSELF in after


@pytest.mark.parametrize(("number", "stops"), [(USR1, False), (TERM, True)])
def test_alone_a_rank_saves_at_the_end_of_its_step(make_trainer, number, stops):
    def be_told(trainer):
        os.kill(os.getpid(), number)
        assert is_due(trainer)
        assert not is_due(trainer)
        return trainer._maybe_log_save_evaluate()

    if stops:
        with pytest.raises(SystemExit) as left:
            make_trainer(be_told).train()
        assert left.value.code == 143
    else:
        assert make_trainer(be_told).train() == "logged"


def test_at_its_last_step_a_training_is_not_stopped(make_trainer):
    """It has got where it was going, and the script may have more to do."""

    def be_told(trainer):
        os.kill(os.getpid(), TERM)
        assert is_due(trainer)
        return trainer._maybe_log_save_evaluate()

    assert make_trainer(be_told, max_steps=3).train() == "logged"


def test_among_others_a_rank_asks_the_holder(make_trainer, tmp_path):
    open_heartbeat(str(tmp_path), rank=1, local_rank=1, world_size=2)  # the other one is this process, and lives

    def be_told(trainer):
        os.kill(os.getpid(), TERM)
        return is_due(trainer)

    assert make_trainer(be_told, world_size=2).train() is False
    assert (tmp_path / wire.wish_name(os.getpid())).read_text() == "stop"


def test_what_was_decided_is_done_on_a_rank_that_got_no_signal(make_trainer, tmp_path):
    other = open_heartbeat(str(tmp_path), rank=1, local_rank=1, world_size=2)
    (tmp_path / wire.PROPOSAL_NAME).write_text('{"number": 1, "step": 3, "stop": true}')
    wire.decide(str(tmp_path), 1, wanted=True)
    other.last_save = 3
    other.beat()

    def go_on(trainer):
        assert is_due(trainer)
        trainer._maybe_log_save_evaluate()

    with pytest.raises(SystemExit):
        make_trainer(go_on, world_size=2).train()


def test_it_does_not_leave_before_the_others_have_saved(make_trainer, tmp_path, monkeypatch):
    """Its launcher would end them in the middle of it."""
    other = open_heartbeat(str(tmp_path), rank=1, local_rank=1, world_size=2)
    (tmp_path / wire.PROPOSAL_NAME).write_text('{"number": 1, "step": 3, "stop": true}')
    wire.decide(str(tmp_path), 1, wanted=True)
    slept = []

    def sleep(_seconds):
        slept.append(1)
        if len(slept) == 5:
            other.last_save = -3
            other.beat()

    monkeypatch.setattr(transformers_requests, "time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))

    def go_on(trainer):
        is_due(trainer)
        trainer._maybe_log_save_evaluate()

    with pytest.raises(SystemExit):
        make_trainer(go_on, world_size=2).train()
    assert len(slept) == 5


PROGRAM = """
import os, signal, sys, time
from types import SimpleNamespace
sys.path[:0] = [{source!r}, {tests!r}]
from laststep_guard import wire
from laststep_guard.emit import Emitter
from laststep_guard.frameworks.transformers_requests import hook_stop
from laststep_guard.guardian import Guardian
from laststep_guard.guards.heartbeat import open_heartbeat
from laststep_guard.settings import Settings
from laststep_guard.shield import Shield

folder = {folder!r}
emitter = Emitter(folder, 0)
guardian = Guardian(Settings("test", beats_dir=folder, requests_dir=folder), emitter, Shield(emitter.emit), 0)
guardian.heartbeat = open_heartbeat(folder, rank=0, local_rank=0, world_size={world_size})
guardian.state.world_size = guardian.state.local_world_size = {world_size}

class Trainer:
    state = SimpleNamespace(global_step=3, max_steps=9)
    def _maybe_log_save_evaluate(self): ...
    def train(self):
        for begin in guardian.state.at_train_begin: begin(self)
{body}

hook_stop(SimpleNamespace(Trainer=Trainer), guardian)
Trainer().train()
"""


def run(folder, body, *, world_size=1):
    """Run a rank of its own and give its exit code."""
    body = textwrap.indent(textwrap.dedent(body), " " * 8)
    tests = str(Path(__file__).resolve().parents[3])
    program = PROGRAM.format(source=str(SOURCE), tests=tests, folder=str(folder), world_size=world_size, body=body)
    return subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode


LATER = """
from laststep_guard.frameworks import transformers_requests
transformers_requests._TOGETHER_SECONDS = 0.1
"""


@pytest.mark.parametrize(("pause", "code"), [(0.0, 7), (0.3, -TERM)])
def test_a_second_sigterm_ends_a_rank_as_ever_unless_both_are_one_request(tmp_path, pause, code):
    """A scheduler tells everybody, and torchrun's agent, told as well, tells its ranks once more."""
    told = "os.kill(os.getpid(), signal.SIGTERM)"

    assert run(tmp_path, f"{LATER}\n{told}; time.sleep({pause}); {told}; os._exit(7)") == code


def test_a_sigterm_of_a_holder_that_cannot_ask_ends_a_rank_as_ever(tmp_path):
    (tmp_path / wire.REFUSED_NAME).touch()

    assert run(tmp_path, "os.kill(os.getpid(), signal.SIGTERM); time.sleep(30)") == -TERM


def test_a_sigterm_after_another_rank_has_died_ends_a_rank_as_ever(tmp_path):
    """It is the launcher's, which ends what is left."""
    body = """
    other = os.fork()
    if other == 0:
        open_heartbeat(folder, rank=1, local_rank=1, world_size=2)
        os._exit(1)
    os.waitid(os.P_PID, other, os.WEXITED | os.WNOWAIT)  # it has ended, and nobody has collected it
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(30)
    """

    assert run(tmp_path, body, world_size=2) == -TERM


def test_a_forked_child_is_ended_by_its_parents_sigterm(tmp_path):
    """As a pool of processes does it; a worker of the loader has a handler of torch's."""
    body = """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, b"x")
        time.sleep(30)
        os._exit(0)
    os.read(reading, 1)
    os.kill(child, signal.SIGTERM)
    _, status = os.waitpid(child, 0)
    sys.exit(7 if os.waitstatus_to_exitcode(status) == -signal.SIGTERM else 8)
    """

    assert run(tmp_path, body) == 7


def test_a_signal_after_the_last_step_is_not_swallowed(tmp_path):
    assert run(tmp_path, "os.kill(os.getpid(), signal.SIGTERM)") == -TERM


def test_a_wish_that_nobody_takes_ends_the_rank(tmp_path):
    """The holder is gone, and a signal must not be swallowed."""
    body = """
    from laststep_guard.frameworks import transformers_requests
    transformers_requests._LONGEST_DEAF_SECONDS = 0.1
    open_heartbeat(folder, rank=1, local_rank=1, world_size=2)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.3)
    [ask(self) for ask in guardian.state.is_save_due]
    time.sleep(30)
    """

    assert run(tmp_path, body, world_size=2) == -TERM
