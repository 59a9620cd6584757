"""What a tokenizer *is*, independent of the file it came from.

A source turns one format into a :class:`TokenizerModel`; the compiler turns that into tables.
These classes hold everything that decides an id, and nothing else: a source refuses
(:class:`tokexport.errors.UnsupportedError`) what they cannot express.
"""

from tokexport.model.byte_strings import ByteStrings as ByteStrings
from tokexport.model.byte_strings import Vocabulary as Vocabulary
from tokexport.model.decoding import *  # noqa: F403
from tokexport.model.text import *  # noqa: F403
from tokexport.model.tokenizer import *  # noqa: F403
from tokexport.model.tokens import Tokens as Tokens
from tokexport.model.vocabulary import *  # noqa: F403
from tokexport.special_tokens import AddedToken as AddedToken
from tokexport.special_tokens import SpecialIds as SpecialIds
