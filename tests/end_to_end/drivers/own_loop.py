"""A training loop of somebody's own, without a trainer, whose loader workers are started afresh and killed."""

import os
import random
import signal
import sys

import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        return torch.tensor([index, random.random()], dtype=torch.float64)


def main():
    torch.manual_seed(3)
    is_killing = sys.argv[2] == "kill"
    iterator = iter(DataLoader(Rows(), batch_size=2, num_workers=2, multiprocessing_context=sys.argv[1]))
    for number, batch in enumerate(iterator):
        print(number, batch.tolist(), flush=True)
        if is_killing and number == 4:
            os.kill(iterator._workers[0].pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
