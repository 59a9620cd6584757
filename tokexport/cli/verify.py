"""tokexport verify: a file compared with its reference."""

from typing import Any

import click

from tokexport.cli.console import Output, ProgressLine, output_options, say
from tokexport.cli.options import InputPath, Integer, number_option, refuse_beside, source_options
from tokexport.runtime.embedded import is_tokexport_file
from tokexport.runtime.tokenizer import processors
from tokexport.targets.compare import compare_runtime
from tokexport.targets.registry import TARGETS
from tokexport.verification import verify as library

AS_HELP = "TOKENIZER has this format of `convert --to`: compare what its runtime does with it."
# Random strings: another runtime's algorithm is reimplemented here plainly, which is slow.
STRINGS, RUNTIME_STRINGS = 100_000, 1000
STRINGS_HELP = f"Random strings.  [{STRINGS}, or {RUNTIME_STRINGS} with --as]"


@click.command()
@click.argument("path", metavar="TOKENIZER", type=InputPath())
@click.option(
    "--against", required=True, type=InputPath(), metavar="SOURCE", help="What it was made from."
)
@source_options
@click.option("--as", "runtime", type=click.Choice([*TARGETS]), metavar="FORMAT", help=AS_HELP)
@click.option("--strings", type=Integer(0), metavar="N", help=STRINGS_HELP)
@click.option("--seed", type=int, default=0, metavar="N", help="Seed of the random strings.")
@click.option(
    "--text", "texts", multiple=True, type=InputPath(), metavar="FILE", help="Also compare a text."
)
@click.option("--only", metavar="KEY", help="Only this comparison; a difference shows its key.")
@click.option(
    "--quick",
    is_flag=True,
    help="Compare a sample, in a second or two after the source's library has loaded the source.",
)
@number_option("--jobs", help="Processes.  [one per processor]")
@output_options
@click.pass_context
def verify(
    context: click.Context,
    path: str,
    against: str,
    how: dict[str, Any],
    runtime: str | None,
    strings: int | None,
    seed: int,
    texts: tuple[str, ...],
    only: str | None,
    quick: bool,
    jobs: int | None,
    output: Output,
) -> None:
    """Compares a file with its source's own library.

    Counts what it compares: every id decoded and every token encoded, then code points, random
    joins of tokens, random Unicode, white space, digits and apostrophes, long words, special tokens
    inside text, and your texts. Each text is encoded by the C core and by the bulk engine, which
    encodes long texts on hosts. The first difference is shown in full. Exit code 0: no difference;
    1: there is one.

    With --as the file is one of another runtime (tokexport convert --to), and texts are encoded and
    decoded as that runtime does: the texts with different ids are counted, with examples.

    \b
    tokexport verify tokenizer.bin --against tokenizer.json
    tokexport verify tokenizer.bin --against tokenizer.json --quick
    tokexport verify tokenizer.bin --against model/ --text book.txt --seed 7
    tokexport verify my.bin --against my.tiktoken --pattern cl100k_base
    tokexport verify qwen3.bin --against Qwen/Qwen3-0.6B
    tokexport verify model.tokenizer --as qwen3.c --against tokenizer.json
    """
    with ProgressLine(output.quiet) as line:

        def progress(check: str, done: int, total: int) -> None:
            if total:
                line(check, done, total)
            elif not output.quiet and not output.as_json:
                say(f"note: {check}", err=True)

        common: dict[str, Any] = {"against": against, "seed": seed, "texts": texts, **how}
        if runtime is not None:
            refuse_beside("--as", {"only": only, "quick": quick, "jobs": jobs})
            if is_tokexport_file(path):
                raise click.UsageError(f"{path} is a tokexport file: leave out --as.")
            count = RUNTIME_STRINGS if strings is None else strings
            result = compare_runtime(path, runtime, strings=count, progress=progress, **common)
        else:
            count = STRINGS if strings is None else strings
            more: dict[str, Any] = {"only": only, "quick": quick, "jobs": jobs or processors()}
            result = library(path, strings=count, progress=progress, **more, **common)
    output.give("verify", result.to_json(), "\n".join(result.lines()))
    context.exit(0 if result.ok else 1)
