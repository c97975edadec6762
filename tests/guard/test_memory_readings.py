"""The nearest limit is found in cgroup v1 and v2, in containers and without any."""

from laststep_guard.guards.memory_readings import MemoryReader

MB = 1 << 20


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def meminfo(available_mb):
    return f"MemTotal: {64 * 1024} kB\nMemAvailable: {available_mb * 1024} kB\n"


def test_cgroup_v2_counts_page_cache_as_free_and_takes_the_lowest_ancestor(tmp_path):
    write(tmp_path, {
        "proc/self/cgroup": "0::/job/step\n", "proc/meminfo": meminfo(50),
        "sys/fs/cgroup/job/memory.max": str(40 * MB), "sys/fs/cgroup/job/memory.current": str(35 * MB),
        "sys/fs/cgroup/job/memory.stat": f"inactive_file {5 * MB}\nactive_file {2 * MB}\nshmem {9 * MB}\n",
        "sys/fs/cgroup/job/step/memory.max": "max\n", "sys/fs/cgroup/job/step/memory.current": str(35 * MB),
        "sys/fs/cgroup/job/step/memory.stat": "",
    })  # fmt: skip

    seen = MemoryReader(root=str(tmp_path)).read()

    assert (seen.free_bytes, seen.limit, seen.limit_bytes) == (12 * MB, "cgroup", 40 * MB)


def test_cgroup_v1_in_a_container_whose_own_group_is_mounted_at_the_top(tmp_path):
    write(tmp_path, {
        "proc/self/cgroup": "7:memory:/docker/abc\n3:cpu:/docker/abc\n", "proc/meminfo": meminfo(50),
        "sys/fs/cgroup/memory/memory.limit_in_bytes": str(20 * MB),
        "sys/fs/cgroup/memory/memory.usage_in_bytes": str(18 * MB),
        "sys/fs/cgroup/memory/memory.stat": f"total_inactive_file {3 * MB}\ntotal_active_file {MB}\n",
        "sys/fs/cgroup/memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
    })  # fmt: skip

    reader = MemoryReader(root=str(tmp_path))

    assert reader.read().free_bytes == 6 * MB
    assert reader.read_kills() == 2


def test_without_a_limit_the_host_counts(tmp_path):
    write(tmp_path, {"proc/self/cgroup": "0::/\n", "proc/meminfo": meminfo(50)})

    seen = MemoryReader(root=str(tmp_path)).read()

    assert (seen.free_bytes, seen.limit) == (50 * MB, "host")


def test_where_nothing_can_be_read_nothing_is_claimed(tmp_path):
    """Could-not-tell is a value."""
    assert MemoryReader(root=str(tmp_path)).read() is None
