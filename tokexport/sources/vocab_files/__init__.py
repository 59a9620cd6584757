"""Bare vocabularies: vocab.txt, vocab.json with merges.txt, CLIP, RWKV and minbpe."""
