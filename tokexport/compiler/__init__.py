"""TokenizerModel -> tables: merges, lookup indexes, pre-tokenizer programs, tries, normalizer.

Each module makes one table; :func:`tokexport.compiler.compile.compile_model` runs them all.
"""
