"""nanochat's tokenizer: trains it, and replaces its ``RustBPETokenizer``.

>>> tokenizer = Tokenizer.train_from_iterator(["low lower lowest"], vocab_size=269)
>>> tokenizer.encode("low lower", prepend="<|bos|>")
[260, 257, 259, 114]
"""

from tokexport.nanochat.tokenizer import SPECIAL_TOKENS as SPECIAL_TOKENS
from tokexport.nanochat.tokenizer import Tokenizer as Tokenizer
