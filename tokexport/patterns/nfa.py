"""From a tree to a Thompson automaton with priorities: what a Pike VM runs, thread by thread."""

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from tokexport.patterns import tree
from tokexport.unicode import CodePoints

MAX_INSTRUCTIONS = 1 << 15


@dataclass(frozen=True, slots=True)
class Take:
    """Consume one character of set number ``members``, then continue at ``target``."""

    members: int
    target: int


@dataclass(frozen=True, slots=True)
class Fork:
    """Try the targets in order."""

    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """Continue at ``target`` if condition number ``condition`` holds."""

    condition: int
    target: int


Instruction: TypeAlias = "Take | Fork | Check | Match"


@dataclass(frozen=True, slots=True)
class Match:
    """The pattern has matched."""


@dataclass(slots=True)
class Nfa:
    """Instructions, where to start, and the sets and conditions that they refer to by number.

    ``starts``: one, or two, the second for where the search for a match begins.
    """

    instructions: list[Instruction] = field(default_factory=list)
    starts: tuple[int, ...] = ()
    sets: list[CodePoints] = field(default_factory=list)
    conditions: list[tree.Condition] = field(default_factory=list)


def nfa_of(*nodes: tree.Node) -> Nfa:
    """Compiles trees without Look, Atomic, Group and Reference nodes, one for each start.

    Raises PatternError if counted repeats make it too long.

    >>> from tokexport.patterns.fancy import parse
    >>> nfa_of(parse("a|b*")).instructions[:3]
    [Match(), Take(members=0, target=0), Fork(targets=(3, 0))]
    """
    writer = _Writer()
    end = writer.add(Match())
    writer.nfa.starts = tuple([writer.write(node, end) for node in nodes])
    return writer.nfa


class _Writer:
    """Writes backwards: each node is given the instruction that follows it."""

    def __init__(self) -> None:
        self.nfa = Nfa()
        self._set_numbers: dict[bytes, int] = {}
        # By identity: the tree keeps its sets and conditions alive while it is written.
        self._numbers: dict[int, int] = {}

    def add(self, instruction: Instruction) -> int:
        instructions = self.nfa.instructions
        if len(instructions) == MAX_INSTRUCTIONS:
            found = f"counted repeats that unfold to more than {MAX_INSTRUCTIONS} steps"
            raise tree.PatternError(0, found, "use smaller counts")
        instructions.append(instruction)
        return len(instructions) - 1

    def write(self, node: tree.Node, after: int) -> int:
        """Appends a node's instructions, which continue at ``after``; returns where they start."""
        match node:
            case tree.Sequence(parts):
                for part in reversed(parts):
                    after = self.write(part, after)
                return after
            case tree.Choice(options):
                return self.add(Fork(tuple([self.write(option, after) for option in options])))
            case tree.Repeat():
                return self._write_repeat(node, after)
            case tree.Characters(members):
                return self.add(Take(self._set_number(members), after))
            case tree.Assertion(condition):
                return self.add(Check(self._condition_number(condition), after))
            case tree.SearchStart(offset):
                hint = r"\G is supported where an alternative of the pattern begins"
                raise tree.PatternError(offset, r"an anchor \G in the middle of it", hint)
            case _:
                raise TypeError(f"a {type(node).__name__} node has not been lowered")

    def _write_repeat(self, node: tree.Repeat, after: int) -> int:
        if node.high is None:
            entry = self.add(Fork(()))
            body = self.write(node.body, entry)
            self.nfa.instructions[entry] = Fork(_ordered(body, after, node.greedy))
        else:
            entry = after
            for _ in range(node.high - node.low):
                body = self.write(node.body, entry)
                entry = self.add(Fork(_ordered(body, after, node.greedy)))
        for _ in range(node.low):
            entry = self.write(node.body, entry)
        return entry

    def _set_number(self, members: CodePoints) -> int:
        # A million bytes are slow to hash, and a repeated node is written many times.
        if id(members) not in self._numbers:
            changes = np.flatnonzero(members[1:] != members[:-1])
            key = members[:1].tobytes() + changes.tobytes()
            number = self._set_numbers.setdefault(key, len(self.nfa.sets))
            if number == len(self.nfa.sets):
                self.nfa.sets.append(members)
            self._numbers[id(members)] = number
        return self._numbers[id(members)]

    def _condition_number(self, condition: tree.Condition) -> int:
        if id(condition) not in self._numbers:
            self._numbers[id(condition)] = len(self.nfa.conditions)
            self.nfa.conditions.append(condition)
        return self._numbers[id(condition)]


def _ordered(body: int, after: int, greedy: bool) -> tuple[int, int]:
    return (body, after) if greedy else (after, body)


def sources_of(program: Nfa) -> list[list[int]]:
    """For each instruction, those that lead to it without consuming a symbol."""
    sources: list[list[int]] = [[] for _ in program.instructions]
    for number, instruction in enumerate(program.instructions):
        if isinstance(instruction, Fork):
            for target in instruction.targets:
                sources[target].append(number)
        elif isinstance(instruction, Check):
            sources[instruction.target].append(number)
    return sources


def tests_of(program: Nfa) -> list[tree.Test]:
    return [test for condition in program.conditions for test in asked_by(condition)]


def asked_by(condition: tree.Condition) -> list[tree.Test]:
    """The tests in a condition, both of neighbours and of all that follows."""
    if isinstance(condition, tree.LookOne | tree.LookUnbounded):
        return [condition]
    inner = (condition.condition,) if isinstance(condition, tree.Not) else condition.conditions
    return [test for part in inner for test in asked_by(part)]
