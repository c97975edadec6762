"""A machine whose answers a test chooses. What it does not choose is a roomy one."""

from dataclasses import dataclass, field

from laststep.host.machine import Place, Space

GIB = 1 << 30


@dataclass
class FakeMachine:
    place: Place | None = field(
        default_factory=lambda: Place(
            path="/work/output", is_writable=True, is_folder=True, space=Space(500 * GIB, 400 * GIB, 1_000_000)
        )
    )
    shared_memory: Space | None = field(default_factory=lambda: Space(16 * GIB, 16 * GIB))
    open_files_limit: int | None = 65535
    taken_ports: tuple[int, ...] = ()

    def look_at(self, path):
        return self.place

    def read_shared_memory(self):
        return self.shared_memory

    def read_open_files_limit(self):
        return self.open_files_limit

    def is_port_free(self, port):
        return port not in self.taken_ports
