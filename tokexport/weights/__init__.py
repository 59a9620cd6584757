"""Weights files: a model's matrices as an engine maps them (formats/weights)."""

from tokexport.weights.export import Exported as Exported
from tokexport.weights.export import export as export
