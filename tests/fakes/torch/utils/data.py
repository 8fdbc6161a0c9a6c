"""The data loader of the stand-in: one process that says it were three."""
import os

DEFECT = os.environ.get("FAKE_TORCH", "")
WORDS = {
    "bus": "DataLoader worker (pid 7) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.",
    "space": "unable to allocate shared memory(shm) for file </torch_7_1_0>: No space left on device (28)",
    "files": "unable to open shared memory object </torch_7_1_0> in read-write mode: Too many open files (24)",
    "killed": "DataLoader worker (pid 7) is killed by signal: Killed.",
}


class DataLoader:
    def __init__(self, dataset, batch_size, num_workers, prefetch_factor, timeout):
        assert batch_size is None and num_workers == 2 and timeout > 0
        self.dataset = dataset

    def __iter__(self):
        if DEFECT == "old_loader":
            raise TypeError("unexpected")
        order = list(range(len(self.dataset)))
        if DEFECT == "order":
            order[1], order[2] = order[2], order[1]
        if DEFECT == "lost":
            order.pop()
        for index in order:
            if index == 1 and DEFECT in WORDS:
                raise RuntimeError(WORDS[DEFECT])
            _, _, values = self.dataset[index - 1 if DEFECT == "stale" and index else index]
            if DEFECT == "flip" and index == 2:
                values.key = values.key[:2] + (77,)
            if DEFECT == "copied":
                values.shared = False
            pid = os.getpid() if DEFECT == "same_process" else 1 if DEFECT == "one_worker" else 1 + index % 2
            yield index, pid, values
