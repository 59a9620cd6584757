"""tokexport model: the weights that go with a tokenizer."""

from typing import Literal

import click

from tokexport.cli.console import Output, ProgressLine, output_options, size
from tokexport.cli.options import AnyPath, Group, target_option
from tokexport.weights import export as export_weights


@click.group(cls=Group)
def model() -> None:
    """Writes a model's weights for an engine that maps them."""


@model.command()
@click.argument("checkpoint", type=AnyPath())
@target_option("target", default="model.weights", help="The file to write.")
@click.option(
    "--dtype",
    type=click.Choice(["float32", "int8"]),
    default="float32",
    help="The type of the weights.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@output_options
def export(
    checkpoint: str, target: str, dtype: Literal["float32", "int8"], force: bool, output: Output
) -> None:
    """Writes the weights file of a Hugging Face checkpoint.

    CHECKPOINT is a folder with config.json and model.safetensors (or its parts) of a model like
    Llama or Qwen3. int8 is symmetric, with one scale per group of 64 weights. The layout is in
    formats/weights; examples/engine runs it.

    \b
    tokexport model export Qwen3-0.6B -o model.weights --dtype int8
    tokexport convert Qwen3-0.6B -o tokenizer.bin
    engine model.weights tokenizer.bin "Once upon a time"
    """
    with ProgressLine(output.quiet or output.as_json) as progress:
        done = export_weights(checkpoint, target, dtype=dtype, force=force, progress=progress)
    values = {
        "target": str(done.target),
        "size": done.size,
        "dtype": dtype,
        "parameters": done.parameters,
        "largest_error": done.largest_error,
        "mean_error": done.mean_error,
    }
    text = f"{target}: {done.parameters:,} parameters as {dtype}, {size(done.size)}"
    if dtype == "int8":
        text += f"\nerror of a weight: at most {done.largest_error:.3g}, mean {done.mean_error:.3g}"
    output.give("model export", values, text)
