"""A fresh process until it has the ids of two words: CPU and private memory beyond Python's own.

Needs Linux: memory is read from /proc/self/smaps_rollup.
"""

from __future__ import annotations

import random
import resource
import statistics
import subprocess
import sys
import tempfile

from fast_peers import Subject, names

MEMORY = """
print(sum(int(line.split()[1]) for line in open("/proc/self/smaps_rollup") if "Private" in line))
"""


def programs(subject: Subject) -> dict[str, str]:
    """By library, a program that loads it and encodes; the one without a name does nothing."""
    path, file = str(subject.path), str(subject.file)
    every = {
        "tokexport": f"import tokexport; tokexport.load({file!r}).encode('hello world')",
        "tiktoken": (
            "import tiktoken; from tiktoken.load import load_tiktoken_bpe as load\n"
            f"tiktoken.Encoding('x', pat_str='.', mergeable_ranks=load({path!r}),"
            " special_tokens={}).encode('hello world')"
        ),
        "gigatoken": (
            "from gigatoken import Tokenizer\n"
            f"Tokenizer.from_tiktoken({path!r}).encode('hello world')"
        ),
        "fastokens": (
            "from fastokens import Tokenizer\n"
            f"Tokenizer.from_tiktoken({path!r}, encoding={subject.pattern!r}).encode('hello world')"
        ),
        "rs-bpe": f"from rs_bpe.bpe import openai; openai.{subject.name}().encode('hello world')",
        "quicktok": (
            f"import quicktok; quicktok.get_encoding({subject.name!r}).encode('hello world')"
        ),
    }
    return {"": "pass", **{name: every[name] for name in names(subject) if name in every}}


def fresh_rows(subject: Subject, rounds: int) -> list[list[str]]:
    """For each library, the median CPU time in milliseconds, and the memory in KB."""
    every = programs(subject)
    times: dict[str, list[float]] = {name: [] for name in every}
    for number in range(rounds + 1):
        for name in random.sample(list(every), len(every)):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run(every[name])
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if number:  # round 0 reads files from disk
                user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
                times[name].append((user + system) * 1e3)
    memory = {name: int(run(program + MEMORY)) for name, program in every.items()}
    medians = {name: statistics.median(record) for name, record in times.items()}
    return [
        [name, f"{medians[name] - medians['']:.1f}", f"{memory[name] - memory['']:,}"]
        for name in sorted(every, key=medians.__getitem__)
        if name
    ]


def run(program: str) -> str:
    """The output of a program, which runs in another folder: in the root of the repository it would
    import the sources.
    """
    command, folder = [sys.executable, "-c", program], tempfile.gettempdir()
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
