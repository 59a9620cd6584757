"""From texts to a byte-level BPE tokenizer."""

from tokexport.training.train import train_from_iterator as train_from_iterator
from tokexport.training.trained import Trained as Trained
