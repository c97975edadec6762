"""The demonstration is told in order, each fact once."""

from pathlib import Path

import pytest

from laststep.cli.render_demo import list_demonstration_values, write_demonstration_lines
from laststep.demo.demonstrate import Demonstration
from laststep.demo.kill_workers import Kill
from laststep.demo.run_laststep import SupervisedRun
from laststep.demo.timeline import tell_timeline
from laststep.demo.trained import Trained
from laststep.records.event import Event
from laststep.records.text import Language, Text
from laststep_guard.wire import EventKind, Phase

STEP_2 = Text(en="step 2", zh="第 2 步")
DURING_SAVE = Text(en="during save", zh="save 期间")
KILL = Kill(time=112.0, occasion=STEP_2, worker=77, rank=1, step=2, phase=Phase.STEP)
EVENTS = (
    Event(110.0, EventKind.TRAIN_BEGAN, 5, 0, {"target_step": 14}),
    Event(110.1, EventKind.TRAIN_BEGAN, 6, 1, {"target_step": 14}),
    Event(112.5, EventKind.LOADER_REBUILT, 6, 1, {"loader": "train", "seconds": 0.0512, "resent": 3}),
    Event(113.0, EventKind.LOSS_DETACHED, 6, 1, {"tied": True, "rows": ["row 8", "row 9"]}),
    Event(115.0, EventKind.CHECKPOINT_SAVED, 5, 0, {"step": 5}),
    Event(115.0, EventKind.CHECKPOINT_SAVED, 6, 1, {"step": 5}),
    Event(116.0, EventKind.GUARD_ERROR, 6, 1, {}),
    Event(120.0, EventKind.TRAIN_ENDED, 5, 0, {"step": 14, "target_step": 14}),
)


def test_a_run_is_told_from_its_kills_and_events():
    """What all ranks report is told once, by no rank in particular."""
    told = [(moment.seconds, moment.rank, moment.mark) for moment in tell_timeline(EVENTS, [KILL], 100.0)]
    assert told == [
        (10.0, None, "note"),
        (12.0, 1, "kill"),
        (12.5, 1, "cure"),
        (13.0, 1, "cure"),
        (15.0, None, "save"),
        (20.0, None, "end"),
    ]


def test_the_words_say_what_was_done():
    texts = [moment.text.en for moment in tell_timeline(EVENTS, [KILL], 100.0)]
    assert texts[1] == "SIGKILL to loader worker 77, at step 2, phase step"
    assert texts[2] == "loader rebuilt in 0.05 s, 3 batches asked for again"
    assert texts[3].endswith("row 8 and 1 more")


def run(losses, exit_code=0, output=""):
    trained = Trained(losses=losses, steps=len(losses), train_seconds=3.0, checkpoints=(5, 14), adapter=None)
    return SupervisedRun(exit_code=exit_code, report={}, trained=trained, run_folder=Path("/run"), output=output)


def demonstration(disturbed, undisturbed, *, kills=(KILL,), missed=(), has_same_adapter=True):
    return Demonstration(
        moments=tell_timeline(EVENTS, kills, 100.0),
        kills=tuple(kills),
        missed=tuple(missed),
        disturbed=disturbed,
        undisturbed=undisturbed,
        disturbed_seconds=40.0,
        undisturbed_seconds=30.0,
        has_same_adapter=has_same_adapter,
    )


@pytest.mark.parametrize(
    "shown",
    [
        demonstration(run((1.0, 2.0)), run((1.0, 2.5))),
        demonstration(run(()), run(())),
        demonstration(run((1.0,), exit_code=1, output="last words"), run((1.0,))),
        demonstration(run((1.0,)), run((1.0,)), missed=[DURING_SAVE]),
        demonstration(run((1.0,)), run((1.0,)), kills=()),
        demonstration(run((1.0,)), run((1.0,)), has_same_adapter=False),
    ],
    ids=["other losses", "no losses", "failed", "a kill was missed", "nobody was killed", "another adapter"],
)
def test_anything_less_than_equal_runs_with_real_kills_proves_nothing(shown):
    assert not shown.is_proven
    assert not list_demonstration_values(shown)["proven"]


def test_equal_runs_with_real_kills_are_a_proof():
    assert demonstration(run((1.0, 2.0)), run((1.0, 2.0))).is_proven


def test_a_failed_run_shows_its_last_words():
    shown = demonstration(run((1.0,), exit_code=1, output="last words"), run((1.0,)))
    assert any("last words" in line for line in write_demonstration_lines(shown))


def test_it_is_told_in_chinese_as_well():
    shown = demonstration(run((1.0, 2.0), exit_code=1), run((1.0, 2.0)), missed=[DURING_SAVE])
    assert write_demonstration_lines(shown, Language.CHINESE) == [
        "",
        "    时间   rank  事件",
        "   10.0 s         · 训练开始：共 14 步",
        "   12.0 s     1   ✗ 向数据加载进程 77 发送 SIGKILL，第 2 步，阶段 step",
        "   12.5 s     1   ↻ 数据加载器在 0.05 秒内重建，重新请求 3 个批次",
        "   13.0 s     1   ↻ 损失未连到任何权重，已接到模型上，各 rank 无需等待：row 8，另有 1 行",
        "   15.0 s         ◆ checkpoint-5 已保存",
        "   20.0 s         ● 到达第 14 步，共 14 步",
        "",
        "  ✗ 受干扰：  退出码 1，第 2 步，2 个检查点，40 秒，杀死 1 个数据加载进程",
        "  ✓ 未受干扰：退出码 0，第 2 步，2 个检查点，30 秒",
        "  ✓ 损失（共 2 步）逐位相同",
        "  ✓ 最终 adapter 逐位相同",
        "  ✗ 以下时机未能杀死数据加载进程：save 期间",
        "\n  受干扰的运行最后的输出：",
        "",
    ]


def test_its_english_is_that_of_the_readme():
    shown = demonstration(run((1.0, 2.0)), run((1.0, 2.0)))
    lines = write_demonstration_lines(shown)
    assert lines[1] == "    time   rank  what happened"
    assert lines[-5:] == [
        "  ✓ disturbed:   exit code 0, step 2, 2 checkpoints, 40 s, 1 workers killed",
        "  ✓ undisturbed: exit code 0, step 2, 2 checkpoints, 30 s",
        "  ✓ losses of all 2 steps identical, bit for bit",
        "  ✓ final adapter identical, bit for bit",
        "",
    ]


def test_colours_are_only_used_where_asked_for():
    shown = demonstration(run((1.0,)), run((1.0,)))
    assert "\x1b" not in "".join(write_demonstration_lines(shown))
    assert "\x1b" in "".join(write_demonstration_lines(shown, is_colourful=True))
