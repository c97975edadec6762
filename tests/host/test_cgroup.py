"""What a memory cgroup has counted, of either version."""

from laststep.host.cgroup import CgroupCounts, read_counts


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return str(root)


def test_version_2_is_read(tmp_path):
    group = "sys/fs/cgroup/user.slice/train"
    root = write(tmp_path, {
        "proc/self/cgroup": "0::/user.slice/train\n",
        f"{group}/memory.events": "low 0\nhigh 3\nmax 12\noom 2\noom_kill 2\noom_group_kill 0\n",
        f"{group}/memory.peak": "7516192768\n", f"{group}/memory.max": "max\n",
    })  # fmt: skip

    assert read_counts(root) == CgroupCounts(2, 7516192768, None)


def test_version_1_in_a_container_is_read_where_it_is_mounted(tmp_path):
    top = "sys/fs/cgroup/memory"
    root = write(tmp_path, {
        "proc/self/cgroup": "12:pids:/docker/abc\n4:memory:/docker/abc\n",
        f"{top}/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
        f"{top}/memory.max_usage_in_bytes": "100\n", f"{top}/memory.limit_in_bytes": "200\n",
    })  # fmt: skip

    assert read_counts(root) == CgroupCounts(1, 100, 200)


def test_an_old_kernel_does_not_count(tmp_path):
    root = write(tmp_path, {
        "proc/self/cgroup": "4:memory:/\n",
        "sys/fs/cgroup/memory/memory.oom_control": "oom_kill_disable 0\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    })  # fmt: skip

    assert read_counts(root) == CgroupCounts()


def test_where_nothing_can_be_seen_nothing_is_said(tmp_path):
    assert read_counts(str(tmp_path)) == CgroupCounts()
