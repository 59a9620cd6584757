"""What a tokenizer *is*, whatever file it came from.

A source turns one format into a :class:`TokenizerModel`; the compiler turns that into tables.
Everything that decides an id is here and nothing else: a source refuses
(:class:`tokexport.errors.UnsupportedError`) what these classes cannot say.
"""

from tokexport.model.byte_strings import ByteStrings as ByteStrings
from tokexport.model.byte_strings import Vocabulary as Vocabulary
from tokexport.model.decoding import Decoding as Decoding
from tokexport.model.decoding import FirstIs as FirstIs
from tokexport.model.decoding import ParseByteToken as ParseByteToken
from tokexport.model.decoding import ReplaceLiteral as ReplaceLiteral
from tokexport.model.decoding import StripChars as StripChars
from tokexport.model.decoding import TextEdit as TextEdit
from tokexport.model.text import Append as Append
from tokexport.model.text import Behavior as Behavior
from tokexport.model.text import CharacterMap as CharacterMap
from tokexport.model.text import CharacterRuns as CharacterRuns
from tokexport.model.text import CharacterTest as CharacterTest
from tokexport.model.text import Charsmap as Charsmap
from tokexport.model.text import Dialect as Dialect
from tokexport.model.text import NormalForm as NormalForm
from tokexport.model.text import NormalizerStep as NormalizerStep
from tokexport.model.text import Prepend as Prepend
from tokexport.model.text import PreTokenizerStep as PreTokenizerStep
from tokexport.model.text import Replace as Replace
from tokexport.model.text import SpellBytes as SpellBytes
from tokexport.model.text import Split as Split
from tokexport.model.text import Strip as Strip
from tokexport.model.tokenizer import Alignment as Alignment
from tokexport.model.tokenizer import ChatTemplates as ChatTemplates
from tokexport.model.tokenizer import Provenance as Provenance
from tokexport.model.tokenizer import Reference as Reference
from tokexport.model.tokenizer import SelfTestCase as SelfTestCase
from tokexport.model.tokenizer import SpecialIds as SpecialIds
from tokexport.model.tokenizer import Template as Template
from tokexport.model.tokenizer import TemplateItem as TemplateItem
from tokexport.model.tokenizer import TokenizerModel as TokenizerModel
from tokexport.model.tokenizer import Trimming as Trimming
from tokexport.model.tokens import Tokens as Tokens
from tokexport.model.vocabulary import AddedToken as AddedToken
from tokexport.model.vocabulary import BytePairModel as BytePairModel
from tokexport.model.vocabulary import CharacterSymbols as CharacterSymbols
from tokexport.model.vocabulary import GreedyModel as GreedyModel
from tokexport.model.vocabulary import Model as Model
from tokexport.model.vocabulary import Token as Token
from tokexport.model.vocabulary import TokenKind as TokenKind
from tokexport.model.vocabulary import UnigramModel as UnigramModel
from tokexport.model.vocabulary import WordLevelModel as WordLevelModel
from tokexport.model.vocabulary import WordPieceModel as WordPieceModel
