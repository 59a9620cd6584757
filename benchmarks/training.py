"""Measures training with rustbpe, tokenizers and gigatoken, and writes docs/TRAINING.md's tables.

    pip install rustbpe gigatoken
    TOKEXPORT_SHARED=FOLDER python benchmarks/training.py [--print] [--sizes 100 1000]

Every run is a separate process that reads a file of documents and learns. First the learned tokens
are compared, those of each trainer with ours under its tie-break. If those of rustbpe or tokenizers
differ, nothing is reported; for gigatoken, a column says how many differ. Times are CPU time of all
threads together, and wall-clock time, without imports and without compiling the pattern; memory is
the growth of the peak while learning (Linux).

The text is real English and documentation; beyond its size it is repeated with every 40th word
changed, so that new words keep appearing as they do in a corpus.
"""

from __future__ import annotations

import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from report import options, table, write
from texts import english_and_documentation

# Which of our tie-breaks each trainer uses.
PEERS = {"rustbpe": "lowest-ids", "tokenizers": "lowest-gpt2-ids", "gigatoken": "lowest-gpt2-ids"}
DOCUMENT = 5000  # characters, approximately
MB = 1_000_000
# 450 billion characters of English: bytes, and distinct words, which are an estimate.
CORPUS = 460_000_000_000, 100_000_000


def write_text(path: Path, size: int) -> None:
    """A text of about ``size`` bytes."""
    base = re.sub(r"<\|[^|]*\|>|\r", "", english_and_documentation())
    draw, written = random.Random(1), 0
    with path.open("w", encoding="utf-8", newline="") as file:
        for copy in range(size):
            text = base
            if copy:
                words = base.split(" ")
                for at in range(draw.randrange(40), len(words), 40):
                    words[at] += "".join(draw.choices("aeiourstln", k=draw.randint(1, 5)))
                text = " ".join(words)
            file.write(text[: size - written])
            written += len(text)
            if written >= size:
                return


def documents(path: Path) -> Iterator[str]:
    """Parts of a text, cut at line ends where a cut does not change the words."""
    pending: list[str] = []
    held = 0
    with path.open(encoding="utf-8", newline="") as file:
        for line in file:
            if held >= DOCUMENT and not line[:1].isspace() and not pending[-1][-2:-1].isspace():
                yield "".join(pending)
                pending, held = [], 0
            pending.append(line)
            held += len(line)
    yield "".join(pending)


def learn(name: str, path: Path, vocab_size: int, threads: int) -> list[bytes]:
    """The learned tokens, in order. ``name``: a peer, or one of our tie-breaks."""
    if name == "rustbpe":
        import rustbpe

        from tokexport.sources.patterns import GPT2

        peer = rustbpe.Tokenizer()
        peer.train_from_iterator(documents(path), vocab_size, pattern=GPT2)
        return [bytes(token) for token, _ in peer.get_mergeable_ranks()][256:]
    if name == "tokenizers":
        from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

        from tokexport.model.byte_alphabet import to_bytes
        from tokexport.sources.patterns import GPT2

        level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Split(Regex(GPT2), "isolated"), level]
        )
        trainer = trainers.BpeTrainer(
            vocab_size=vocab_size, initial_alphabet=level.alphabet(), show_progress=False
        )
        tokenizer.train_from_iterator(documents(path), trainer)
        merges = json.loads(tokenizer.to_str())["model"]["merges"]
        learned = [to_bytes(left + right) for left, right in merges]
        return [token for token in learned if token is not None]
    if name == "gigatoken":
        import gigatoken

        _, found = gigatoken.train_bpe(gigatoken.TextFileSource([str(path)]), vocab_size, [])
        return [left + right for left, right in found]
    from tokexport.training.train import TieBreak, train_from_iterator

    rule = cast(TieBreak, name)
    trained = train_from_iterator(
        documents(path), vocab_size, pattern="gpt2", tie_break=rule, num_threads=threads
    )
    return [merge.left + merge.right for merge in trained.merges]


def child(name: str, path: Path, vocab_size: int, threads: int) -> None:
    """Learns once and prints what it took."""
    warm = path.with_name("warm.txt")
    learn(name, warm, 260, threads)  # imports, and compiles the pattern
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = memory("VmRSS")
    processor, wall = time.process_time(), time.monotonic()
    tokens = learn(name, path, vocab_size, threads)
    took = time.process_time() - processor, time.monotonic() - wall
    grown = memory("VmHWM") - before
    path.with_name(f"{name}.json").write_text(json.dumps([token.hex() for token in tokens]))
    print(json.dumps({"took": took, "grown": grown}))


def memory(field: str) -> int:
    """A memory figure of this process, in bytes (Linux)."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split(f"{field}:")[1].split()[0])


def one_run(name: str, path: Path, vocab_size: int, threads: int) -> dict[str, Any]:
    """The last line that a process has printed."""
    command = [sys.executable, __file__, "--child", name, str(path), str(vocab_size), str(threads)]
    env = {**os.environ, "RAYON_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "true"}
    run = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)  # fmt: skip
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def measure(path: Path, vocab_size: int, threads: int, rounds: int) -> list[list[str]]:
    """A row for each trainer. Exits if the tokens of an exact trainer differ."""
    names = ["lowest-ids", "lowest-gpt2-ids", *PEERS]
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            runs[name].append(one_run(name, path, vocab_size, threads))
            print(name, runs[name][-1], file=sys.stderr, flush=True)
    tokens = {name: json.loads(path.with_name(f"{name}.json").read_text()) for name in names}
    differing = {peer: len({*tokens[peer]} - {*tokens[ours]}) for peer, ours in PEERS.items()}
    for peer in ("rustbpe", "tokenizers"):
        if tokens[peer] != tokens[PEERS[peer]]:
            sys.exit(f"{peer} learns other tokens; nothing is reported")
    times, clock = (
        {name: statistics.median(run["took"][kind] for run in runs[name]) for name in names}
        for kind in range(2)
    )
    ours = times["lowest-ids"]
    label = f"{path.stat().st_size / MB:,.0f} MB"
    return [
        [
            label,
            f"{vocab_size:,}",
            str(threads),
            "tokexport" if name == "lowest-ids" else name,
            f"{times[name]:.2f}",
            f"{clock[name]:.2f}",
            "1" if name == "lowest-ids" else f"{times[name] / ours:.1f}×",
            f"{min(run['grown'] for run in runs[name]) / MB:,.0f}",
            str(differing.get(name, 0)),
        ]
        for name in names
        if name != "lowest-gpt2-ids"
    ]


def growth(folder: Path) -> list[list[str]]:
    """Peak memory by size of text and by distinct words."""
    from tokexport.training import WordCounts

    rows = []
    for size in (10, 30, 100):
        path = folder / "text.txt"
        write_text(path, size * MB)
        counts = WordCounts("gpt2")
        counts.add(documents(path))
        run = one_run("lowest-ids", path, 32_768, 1)
        rows.append([f"{size} MB", f"{counts.distinct_words:,}", f"{run['grown'] / MB:,.0f}"])
    return rows


def rates(path: Path) -> None:
    """Prints the speed of counting and merging on one thread, and the memory per distinct word."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from tokexport.training import WordCounts, count_files, train_from_counts

    WordCounts()  # compiles the pattern
    texts = [*documents(path)]
    columns = path.with_name("text.parquet")
    pq.write_table(pa.table({"text": texts}), columns, compression="zstd", row_group_size=1000)
    size = path.stat().st_size
    Path("/proc/self/clear_refs").write_text("5")
    before, begin, found = memory("VmRSS"), time.process_time(), {}
    counts = WordCounts()
    counts.add(texts, num_threads=1)
    found["counted"] = size / (time.process_time() - begin)
    words = counts.distinct_words
    found["word_counted"] = (memory("VmHWM") - before) / words
    begin = time.process_time()
    train_from_counts(counts, 32_768)
    found["word_merging"] = (time.process_time() - begin) / words
    found["word_merged"] = (memory("VmHWM") - before) / words
    begin = time.process_time()
    count_files([columns], path.with_name("text.counts"), num_threads=1)
    found["read"] = size / (time.process_time() - begin)
    print(json.dumps({**found, "words": words}))


def cluster(path: Path) -> list[list[str]]:
    """What CORPUS would take, computed from rates measured on a text."""
    found = one_run("rates", path, 32_768, 1)
    size, words = CORPUS
    counted, merged = found["word_counted"], found["word_merged"]
    seconds = size / found["read"]
    return [
        [
            "counting, one core",
            f"{found['read'] / MB:,.0f} MB/s of parquet, {found['counted'] / MB:,.0f} in memory",
            f"{seconds / 3600:.1f} hours",
        ],
        [
            "counting, 64 cores",
            "",
            f"{seconds / 64 / 60:.1f} minutes, at {64 * found['read'] / 1e9:.0f} GB/s",
        ],
        ["memory of counting", f"{counted:,.0f} bytes a word", f"{words * counted / 1e9:,.0f} GB"],
        ["memory of merging", f"{merged:,.0f} bytes a word", f"{words * merged / 1e9:,.0f} GB"],
        [
            "merging, one core",
            f"{1e6 * found['word_merging']:.1f} s a million words",
            f"{words * found['word_merging'] / 60:.1f} minutes",
        ],
    ]


def main() -> None:
    parser = options(__doc__, rounds=3)
    parser.add_argument("--sizes", type=int, nargs="*", default=[], help="MB of texts beyond 10")
    parser.add_argument("--child", nargs=4)
    given = parser.parse_args()
    if given.child:
        name, path, vocab_size, threads = given.child
        if name == "rates":
            rates(Path(path))
            return
        child(name, Path(path), int(vocab_size), int(threads))
        return
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "warm.txt").write_text("low lower lowest\n" * 4)
        path = folder / "text.txt"
        write_text(path, 10 * MB)
        for vocab_size in (8_192, 32_768):
            rows += measure(path, vocab_size, 1, given.rounds)
        for size in given.sizes:
            write_text(path, size * MB)
            rows += measure(path, 32_768, 2, 1)
        memory = growth(folder)
        computed = cluster(path)
    made = {
        "training": table(
            [
                *("text", "vocabulary", "threads", "", "CPU, s", "wall-clock, s", "ratio", "MB"),
                "other tokens",
            ],
            rows,
            left=4,
        ),
        "growth": table(["text", "distinct words", "MB"], memory, left=1),
        "cluster": table(["", "measured", "450 billion characters"], computed, left=3),
    }
    print(*made.values(), sep="\n\n")
    if not given.print:
        write("docs/TRAINING.md", made)


if __name__ == "__main__":
    main()
