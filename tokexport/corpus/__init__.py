"""Converts documents to token shards, which a training run reads."""

from tokexport.corpus.pipeline import tokenize as tokenize
from tokexport.corpus.shards import Index as Index
from tokexport.corpus.shards import Shard as Shard
from tokexport.corpus.shards import read_index as read_index
from tokexport.corpus.tables import EncodeTable as EncodeTable
