"""From texts to a byte-level BPE tokenizer."""

from tokexport.training.counting import WordCounts as WordCounts
from tokexport.training.files import count_files as count_files
from tokexport.training.files import count_stream as count_stream
from tokexport.training.files import join_files as join_files
from tokexport.training.train import Roles as Roles
from tokexport.training.train import train_from_counts as train_from_counts
from tokexport.training.train import train_from_iterator as train_from_iterator
from tokexport.training.trained import Trained as Trained
from tokexport.training.word_counts_file import read_word_counts as read_word_counts
from tokexport.training.word_counts_file import write_word_counts as write_word_counts
