"""Which plans run side by side, and what they are padded to, so that few programs are compiled."""

from collections.abc import Iterator, Sequence

Size = tuple[int, int, int, int]
"""d, N, K and H."""

SHAPES: tuple[Size, ...] = ((2, 2, 4, 2), (4, 4, 8, 4), (8, 8, 8, 8), (16, 16, 16, 16))
"""Small plans are padded to one of these."""

WATCHED = SHAPES[1:2]
"""And where every step is watched, which takes longer, to this one."""

COUNTS = (1, 16, 128)
"""So many small plans run in one call."""

POINTS = 64
"""Records of small plans in one call."""

MOST_PADDING = 4
"""A larger plan may become so many times as large by padding."""


def shape_of(sizes: Sequence[Size], shapes: Sequence[Size] = SHAPES) -> Size | None:
    """What small plans are padded to; None if one of them is large."""
    largest = _largest(sizes)
    fits = (s for s in shapes if all(n <= most for n, most in zip(largest, s, strict=True)))
    return next(fits, None)


def group_of(sizes: Sequence[Size]) -> int | None:
    """How many small plans run in one call; None if one of them is large."""
    if shape_of(sizes) is None:
        return None
    return next((count for count in COUNTS if len(sizes) <= 4 * count), COUNTS[-1])


def batches_of(sizes: Sequence[Size], shapes: Sequence[Size] = SHAPES) -> Iterator[list[int]]:
    """Plans to run side by side: small ones of a shape, and larger ones of about the same size."""
    own = [shape_of([size], shapes) for size in sizes]
    for shape in shapes:
        if shape in own:
            yield [i for i in range(len(sizes)) if own[i] == shape]
    batch: list[int] = []
    large = [i for i in range(len(sizes)) if own[i] is None]
    for i in sorted(large, key=lambda i: _numbers([sizes[i]])):
        padded = _numbers([sizes[j] for j in (*batch, i)])
        if batch and padded > MOST_PADDING * _numbers([sizes[batch[0]]]):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _largest(sizes: Sequence[Size]) -> list[int]:
    return [max(numbers) for numbers in zip(*sizes, strict=True)]


def _numbers(sizes: Sequence[Size]) -> int:
    """Of attention and all Q_h of a plan, if all are padded to the largest."""
    d, N, K, H = _largest(sizes)
    return H * (N * K + d * d)
