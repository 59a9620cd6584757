"""tokexport embed: a tokexport file inside a model's file."""

from dataclasses import asdict

import click

from tokexport.cli.console import Output, output_options, size
from tokexport.cli.options import InputPath, target_option
from tokexport.embedding import embed as library


@click.command()
@click.argument("tokenizer", type=InputPath())
@click.argument("model", type=InputPath())
@target_option("target", required=True, help="The copy to write.")
@click.option("--force", is_flag=True, help="Overwrite the target.")
@output_options
def embed(tokenizer: str, model: str, target: str, force: bool, output: Output) -> None:
    """Puts a tokenizer into a copy of a model's file.

    The model is then one file. TOKENIZER is a tokexport file, MODEL a safetensors or GGUF file,
    whose tensors do not change. Every command, tokexport.load and a C program map the tokenizer in
    place, at a multiple of 64 bytes: the last 16 bytes of the copy are the tokenizer's size and a
    mark. In safetensors the tokenizer is a tensor; in GGUF it follows the tensors, because
    llama.cpp refuses tensors that it does not use.

    \b
    tokexport embed tokenizer.bin model.safetensors -o one.safetensors
    tokexport encode one.safetensors "Hello, world"
    """
    done = library(tokenizer, model, target, force=force)
    text = f"{done.target}: {size(done.file_size)}, with a tokenizer of {size(done.size)}"
    output.give("embed", {**asdict(done), "target": str(done.target)}, text)
