"""An encoding as JSON, as the packages for JavaScript have it: `tiktoken`, `js-tiktoken` and
`@anthropic-ai/tokenizer` (``claude.json``).

``bpe_ranks`` has a line for each run of consecutive ranks: ``!``, the first of them, and the tokens
in base64, with one space between.
"""

from tokexport.sources.json_node import Node


def parse_packed(root: Node) -> tuple[dict[bytes, int], str, dict[str, int]]:
    """Ranks by token, the pattern, special tokens; SourceError if the lines are others."""
    node = root.field("bpe_ranks")
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(node.string().split("\n"), 1):
        mark, first, *words = (*line.split(" "), "", "")
        where = Node(root.file, f"line {number} of {node.path}", line)
        if line and not (mark == "!" and first.isdecimal() and first.isascii()):
            where.fail('"!", a rank, and tokens in base64')
        for rank, word in enumerate(words[:-2], int(first or 0)):
            token = Node(root.file, where.path, word).base64()
            if ranks.setdefault(token, rank) != rank:
                where.broken(f"has the token {word} of rank {ranks[token]} again")
    special = {name: id.u32() for name, id in root.field("special_tokens").members()}
    return ranks, root.field("pat_str").string(), special
