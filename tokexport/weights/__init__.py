"""Weights files: a model's matrices in the layout that an engine maps (formats/weights)."""

from tokexport.weights.export import Exported as Exported
from tokexport.weights.export import export as export
