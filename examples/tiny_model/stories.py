"""Stories from a small grammar: text that a tiny model can learn, under this project's licence."""

from __future__ import annotations

import random

NAMES = ["Mia", "Tom", "Lena", "Ravi", "Ana", "Ben", "Yuki", "Omar", "Zoe", "Ivan"]
ANIMALS = ["cat", "dog", "fox", "bird", "mouse", "rabbit", "turtle", "frog"]
COLORS = ["red", "blue", "green", "yellow", "white", "brown"]
THINGS = ["ball", "kite", "boat", "book", "drum", "lamp", "hat", "box"]
PLACES = ["the garden", "the park", "the forest", "the beach", "the kitchen", "the old house"]
MOODS = ["happy", "sad", "tired", "brave", "curious", "hungry"]
WEATHER = ["sunny", "rainy", "windy", "cold", "warm"]


def story(rng: random.Random) -> str:
    """A story of six sentences."""
    name, friend = rng.sample(NAMES, 2)
    animal, thing, color = rng.choice(ANIMALS), rng.choice(THINGS), rng.choice(COLORS)
    place, other = rng.sample(PLACES, 2)
    mood = rng.choice(MOODS)
    found = rng.choice(["under a tree", "near a stone", "beside a wall", "on the path"])
    end = rng.choice(
        [
            f"They played with the {thing} until it was dark.",
            f"{friend} gave the {thing} back, and they laughed.",
            f"The {animal} took the {thing} and ran away.",
            f"At home {name} put the {color} {thing} on the bed.",
        ]
    )
    return (
        f"Once upon a time there was a {mood} {animal} who lived in {place}. "
        f"One {rng.choice(WEATHER)} day, {name} and {friend} went to {other}. "
        f"They found a {color} {thing} {found}. "
        f'"Is this your {thing}?" {name} asked the {animal}. '
        f'"{rng.choice(["Yes", "No", "Maybe"])}," said the {animal}, and was not {mood} any more. '
        f"{end}"
    )


def stories(count: int, seed: int) -> list[str]:
    """Stories; the same ones for the same seed."""
    rng = random.Random(seed)
    return [story(rng) for _ in range(count)]
