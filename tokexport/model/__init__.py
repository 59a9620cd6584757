"""What a tokenizer *is*, whatever file it came from.

A source turns one format into a :class:`TokenizerModel`; the compiler turns that into tables.
Everything that decides an id is here and nothing else: a source refuses
(:class:`tokexport.errors.UnsupportedError`) what these classes cannot say.
"""

from tokexport.model.byte_strings import ByteStrings as ByteStrings
from tokexport.model.byte_strings import Vocabulary as Vocabulary
from tokexport.model.decoding import *  # noqa: F403
from tokexport.model.text import *  # noqa: F403
from tokexport.model.tokenizer import *  # noqa: F403
from tokexport.model.tokens import Tokens as Tokens
from tokexport.model.vocabulary import *  # noqa: F403
