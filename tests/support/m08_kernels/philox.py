"""Triton's random numbers, `tl.rand`, computed by NumPy, equal in every bit, for any seed of up to 64 bits.

Source: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (2011): Philox4x32 with ten rounds.
"""

import numpy as np

MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
WEYL = 0x9E3779B9, 0xBB67AE85  # the increments of the key's two words in each round
WORD = 2**32
SHARE = np.float32(4.6566127342e-10)  # a little less than 2**-31: the largest number stays below 1


def philox(counter: tuple[np.ndarray | int, ...], key: tuple[int, int], rounds: int = 10) -> list[np.ndarray]:
    """Four words of 32 bits for each counter of four such words."""
    c0, c1, c2, c3 = (np.asarray(word, np.uint64) for word in counter)
    k0, k1 = key
    for _ in range(rounds):
        first, second = c0 * np.uint64(MULTIPLIERS[0]), c2 * np.uint64(MULTIPLIERS[1])
        low, high = np.uint64(WORD - 1), np.uint64(32)
        c0, c1 = (second >> high) ^ c1 ^ np.uint64(k0), second & low
        c2, c3 = (first >> high) ^ c3 ^ np.uint64(k1), first & low
        k0, k1 = (k0 + WEYL[0]) % WORD, (k1 + WEYL[1]) % WORD
    return [c0, c1, c2, c3]


def rand(seed: int, offsets: np.ndarray) -> np.ndarray:
    """`tl.rand(seed, offsets)` for offsets from 0 to below 2**31: fp32 numbers from 0 to below 1."""
    key = seed % WORD, seed // WORD % WORD
    words = philox((offsets, 0, 0, 0), key)[0].astype(np.uint32).view(np.int32)
    return np.where(words < 0, ~words, words).astype(np.float32) * SHARE
