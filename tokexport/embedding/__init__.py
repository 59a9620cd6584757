"""A tokexport file inside a model's file."""

from tokexport.embedding.embed import Embedded, embed

__all__ = ["Embedded", "embed"]
