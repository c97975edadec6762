"""Another job listens on the port that torchrun is told to use."""

import socket
import sys

CAUSE = "launch.port-in-use"


def break_run(scene):
    with socket.create_server(("", 0)) as other:
        port = other.getsockname()[1]
        launcher = ("-m", "torch.distributed.run", "--nproc_per_node=2", f"--master_port={port}")
        return scene.run(scene.script(__file__, launcher=launcher))


def train(out):
    import train as small

    small.train(out)


if __name__ == "__main__":
    train(*sys.argv[1:])
