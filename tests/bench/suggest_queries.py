#!/usr/bin/env python3
"""Times `cudamatrix suggest` on 55 queries over 20 GPUs and 10 packages: suggest_queries.py CUDAMATRIX [SECONDS]

Prints processor time, peak memory, exit code and number of answers (stacks, or conflicts and changes), the
slowest first. A query that takes longer than SECONDS (30) of processor time is ended and says so. Half of the
queries ask for something that nothing meets: that is what takes longest. Compare optimised builds.
"""
import json
import os
import resource
import subprocess
import sys
import time

QUERIES = """
--gpu "GTX 1080 Ti" --need flash-attn
--gpu T4 --cuda 13.0.2 --os ubuntu18.04 --driver 470
--gpu B200 --torch 2.5.1 --python 3.8 --os rockylinux9
--gpu T4 --driver 470.161.03 --torch >=1.12 --python 3.9 --need transformers==4.27.4
--gpu V100 --need flash-attn --torch >=2.4 --python 3.12
--gpu V100 --driver 535 --cuda 13.0.2
--gpu P100 --torch >=2.8 --driver 580
--gpu P100 --need xformers --need flash-attn --python 3.11
--gpu K80 --torch >=2.0
--gpu K80 --driver 470 --need vllm
--gpu M60 --need bitsandbytes --need transformers
--gpu T4 --need flash-attn>=2
--gpu T4 --need vllm --need flash-attn>=2.5
--gpu "RTX 2080 Ti" --need deepspeed --need bitsandbytes --python 3.10
--gpu "RTX 2080 Ti" --torch 2.6.0+cu124 --python 3.13 --need xformers==0.0.28
--gpu A100 --need vllm --need flash-attn --python 3.12
--gpu A100 --driver 450 --need vllm>=0.8
--gpu A100 --driver 470 --torch >=2.6 --need flash-attn
--gpu A100 --torch 1.7.1 --python 3.9 --need transformers
--gpu A10 --need auto-gptq --need transformers>=4.50
--gpu A10 --need xformers --torch 2.3.1 --python 3.12
--gpu "RTX 3090" --need bitsandbytes --need transformers --need accelerate
--gpu "RTX 3090" --torch 1.6.0
--gpu "RTX 3090" --torch 1.13.1 --need flash-attn>=2.6
--gpu L4 --need vllm --driver 525
--gpu L4 --cuda 11.2.2 --torch 1.10.0
--gpu L40S --need tensorflow --python 3.12
--gpu "RTX 4090" --need flash-attn --need xformers --need bitsandbytes
--gpu "RTX 4090" --torch 1.12.1 --cuda 11.6.2 --os ubuntu20.04
--gpu "RTX 4090" --need vllm==0.2.7 --python 3.12
--gpu H100 --need flash-attn>=2.7 --need vllm>=0.6 --torch 2.5.1
--gpu H100 --driver 510
--gpu H100 --torch 1.13.1 --python 3.11 --need deepspeed
--gpu H100 --need jax --python 3.12 --driver 535
--gpu H200 --need vllm --need transformers --os ubuntu22.04 --driver 550
--gpu H200 --torch 1.12.0
--gpu B200 --torch 2.5.1
--gpu B200 --need flash-attn --driver 570
--gpu B200 --need vllm --need flash-attn --need xformers --need bitsandbytes --python 3.12
--gpu B200 --driver 550 --torch >=2.7 --cuda 12.8.1 --os ubuntu24.04 --python 3.13
--gpu "RTX 5090" --need xformers --torch 2.6.0
--gpu "RTX 5090" --need flash-attn --need transformers --driver 565
--gpu "RTX 5090" --torch 2.7.1+cu126
--gpu "RTX 5090" --need tensorflow --need transformers --python 3.12
--gpu GH200 --arch aarch64 --need flash-attn --need vllm --driver 550
--gpu GH200 --arch aarch64 --torch 2.3.1 --need bitsandbytes
--gpu "Jetson AGX Orin" --torch >=2.4 --need flash-attn
--gpu "RTX 6000 Ada" --need deepspeed --torch 2.0.1 --python 3.12
--gpu A100* --driver >=450 --need flash-attn --need transformers==4.27.4 --torch >=2.6
--torch 2.5.1 --python 3.8 --os alpine3.20
--need flash-attn --need vllm --need xformers --python 3.8
--driver 390 --torch >=2.0 --need transformers --cuda 12.4.1 --os ubuntu22.04
--gpu H100 --driver 450 --cuda 11.8.0 --os ubuntu18.04 --python 3.13
--gpu M60 --need vllm --need flash-attn --need xformers --need deepspeed --need bitsandbytes
--gpu P100 --driver 390 --cuda 12.4.1 --os debian12 --python 3.7 --torch >=2 --need transformers --need flash-attn
"""


def query_of(line):
    words, quoted = [], line.split('"')
    for index, part in enumerate(quoted):
        words += [part] if index % 2 else part.split()
    return words


def run(program, words, seconds):
    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    began = time.monotonic()
    process = subprocess.Popen([program, "suggest", *words, "--format", "json"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, preexec_fn=limited)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    found = "ended"
    if process.returncode in (0, 1):
        answer = json.loads(out)
        found = (f"{len(answer['stacks'])} stacks" if answer["stacks"] else
                 f"{len(answer['conflicts'])} conflicts, {len(answer['relaxations'])} changes")
    elif process.returncode > 0:
        found = "refused"
    return usage.ru_utime + usage.ru_stime, time.monotonic() - began, usage.ru_maxrss // 1024, found


def main():
    program = sys.argv[1]
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    rows = []
    for line in QUERIES.strip().splitlines():
        rows.append((*run(program, query_of(line), seconds), line))
    rows.sort(reverse=True)
    print("processor s  clock s  MB   answer")
    for processor, clock, memory, found, line in rows:
        print(f"{processor:11.2f}  {clock:7.2f}  {memory:3}  {found:24} {line}")
    print(f"{len(rows)} queries, {sum(row[0] for row in rows):.1f} s of processor time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
