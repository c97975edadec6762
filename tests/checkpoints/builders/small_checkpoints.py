"""Small checkpoints, made without torch: the formats are written out here as their documents describe them."""

import io
import json
import os
import pickle
import struct
import zlib
from pathlib import Path

STEP = 10
LONG_AGO = 1_700_000_000


def torch_archive(pickled, storages, name="archive"):
    """A zip file as torch.save writes it: stored entries, padded, each with a descriptor behind it."""
    out, directory = io.BytesIO(), b""
    entries = {f"{name}/data.pkl": pickled, f"{name}/byteorder": b"little", f"{name}/version": b"3\n"}
    entries |= {f"{name}/data/{key}": data for key, data in storages.items()}
    for entry, data in entries.items():
        where, path, crc = out.tell(), entry.encode(), zlib.crc32(data)
        padding = -(where + 30 + len(path) + 4) % 64
        extra = b"FB" + struct.pack("<H", padding) + b"Z" * padding
        out.write(struct.pack("<4s5H3I2H", b"PK\x03\x04", 0, 0x808, 0, 0, 0, 0, 0, 0, len(path), len(extra)))
        out.write(path + extra + data + struct.pack("<4s3I", b"PK\x07\x08", crc, len(data), len(data)))
        sizes = (crc, len(data), len(data), len(path))
        directory += (
            struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 0, 0, 0x808, 0, 0, 0, *sizes, 0, 0, 0, 0, 0, where) + path
        )
    start, count = out.tell(), len(entries)
    out.write(directory)
    out.write(struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(directory), start, 0))
    return out.getvalue()


class Raw:
    """Opcodes put into a pickle as they are."""

    def __init__(self, opcodes):
        self.opcodes = opcodes


class _Pickler(pickle._Pickler):  # the one in Python, which can be extended
    def save(self, item, **options):
        if isinstance(item, Raw):
            self.write(item.opcodes)
        else:
            super().save(item, **options)


def dump(value):
    """A pickle as torch writes it, in protocol 2."""
    out = io.BytesIO()
    _Pickler(out, 2).dump(value)
    return out.getvalue()


def tensor(key, count, storage="FloatStorage"):
    """The opcodes of a tensor of one dimension over a whole storage."""
    identity = b"(X\x07\0\0\0storagectorch\n%b\nX%b%bX\x03\0\0\0cpuJ%bt" % (
        storage.encode(), struct.pack("<I", len(key)), key.encode(), struct.pack("<i", count),
    )  # fmt: skip
    shape = b"J%b\x85" % struct.pack("<i", count)
    return Raw(
        b"ctorch._utils\n_rebuild_tensor_v2\n("
        + identity
        + b"QK\0"
        + shape
        + b"K\x01\x85\x89ccollections\nOrderedDict\n)RtR"
    )


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def optimiser(step=STEP):
    state = {0: {"step": tensor("0", 1), "exp_avg": tensor("1", 4)}}
    value = {"state": state, "param_groups": [{"lr": 1e-3, "params": [0]}]}
    return torch_archive(dump(value), {"0": floats(step), "1": floats(1, 2, 3, 4)})


def weights(rank=4, value=0.5):
    """An adapter of two layers."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for layer in range(2):
        for side, shape in (("A", [rank, 32]), ("B", [32, rank])):
            name = f"base_model.model.layers.{layer}.q_proj.lora_{side}.weight"
            part = floats(*[value] * (32 * rank))
            header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
            data += part
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def write_checkpoint(folder, step=STEP, ranks=1):
    """A checkpoint of an adapter, as transformers' Trainer leaves it."""
    folder.mkdir(parents=True)
    state = {"global_step": step, "epoch": 1.0, "log_history": [{"step": step, "loss": 0.5}], "max_steps": 20}
    files = {
        "adapter_config.json": json.dumps({"peft_type": "LORA", "r": 4, "base_model_name_or_path": "tiny"}).encode(),
        "adapter_model.safetensors": weights(),
        "trainer_state.json": json.dumps(state).encode(),
        "optimizer.pt": optimiser(step),
        "scheduler.pt": torch_archive(dump({"last_epoch": step, "base_lrs": [1e-3]}), {}),
        "training_args.bin": torch_archive(dump({"output_dir": "out"}), {}),
    }
    names = ["rng_state.pth"] if ranks == 1 else [f"rng_state_{rank}.pth" for rank in range(ranks)]
    files |= dict.fromkeys(names, torch_archive(dump({"cpu": tensor("0", 16, "ByteStorage")}), {"0": bytes(range(16))}))
    for name, data in files.items():
        (folder / name).write_bytes(data)
    age(folder)
    return folder


def age(folder):
    """Nobody is writing there any more."""
    for path in Path(folder).rglob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
