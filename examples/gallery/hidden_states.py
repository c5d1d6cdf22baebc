"""The backward pass is the backward algorithm

A loaded die is exchanged for a fair one now and then; only the numbers are seen. The forward algorithm of hidden
Markov models gives their probability. Its gradient by the logarithm of each step's chances *is* the posterior
probability of each hidden state: what textbooks derive as the forward-backward algorithm, backpropagation does by
itself. Here both are computed and compared.
"""

import random
import sys

import retrograd as rg
from retrograd.math import log

FAIR, LOADED = [1 / 6] * 6, [0.1] * 5 + [0.5]
STAY, LENGTH = 0.95, 200

random.seed(2)
STATES = [0]
for _ in range(LENGTH - 1):
    STATES.append(STATES[-1] if random.random() < STAY else 1 - STATES[-1])
ROLLS = [random.choices(range(6), (FAIR, LOADED)[state])[0] for state in STATES]
MOVES = [[log(STAY), log(1 - STAY)], [log(1 - STAY), log(STAY)]]
CHANCES = [[log(FAIR[roll]), log(LOADED[roll])] for roll in ROLLS]


def likelihood(chances):
    """The logarithm of the probability of all rolls; ``chances`` are the log probabilities of each by both dice."""
    alpha = [log(0.5) + chance for chance in chances[0]]
    for roll in chances[1:]:
        alpha = [rg.logsumexp([a + move[k] for a, move in zip(alpha, MOVES, strict=True)]) + roll[k] for k in (0, 1)]
    return rg.logsumexp(alpha)


def forward_backward():
    """The posterior of the loaded die by the textbook: sums from the left times sums from the right."""
    moves, dice = [[STAY, 1 - STAY], [1 - STAY, STAY]], (FAIR, LOADED)
    left, right = [[0.5 * die[ROLLS[0]] for die in dice]], [[1.0, 1.0]]
    for roll in ROLLS[1:]:
        new = [sum(left[-1][j] * moves[j][k] for j in (0, 1)) * dice[k][roll] for k in (0, 1)]
        left.append([p / sum(new) for p in new])
    for roll in reversed(ROLLS[1:]):
        new = [sum(moves[j][k] * dice[k][roll] * right[-1][k] for k in (0, 1)) for j in (0, 1)]
        right.append([p / sum(new) for p in new])
    both = [[a * b for a, b in zip(x, y, strict=True)] for x, y in zip(left, reversed(right), strict=True)]
    return [pair[1] / sum(pair) for pair in both]


def main(picture=""):
    value, slopes = rg.value_and_grad(likelihood)(CHANCES)
    posterior = [slope[1] for slope in slopes]
    textbook = forward_backward()
    worst = max(abs(a - b) for a, b in zip(posterior, textbook, strict=True))
    print(f"log likelihood of {LENGTH} rolls: {value:.4f}")
    print(f"gradient and forward-backward algorithm differ by {worst:.0e}")
    assert worst < 1e-12
    assert all(abs(sum(slope) - 1) < 1e-12 for slope in slopes)
    right = sum((p > 0.5) == bool(state) for p, state in zip(posterior, STATES, strict=True))
    print(f"the more probable die is the right one in {right} of {LENGTH} rolls")
    assert right > 0.75 * LENGTH
    if picture:
        draw(picture, posterior)


def draw(path, posterior):
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 2.8))
    axes.fill_between(
        range(LENGTH), STATES, step="mid", color="C1", alpha=0.25, linewidth=0, label="the loaded die was used"
    )
    axes.plot(posterior, color="C0", label="its probability: the gradient")
    axes.plot([k for k, roll in enumerate(ROLLS) if roll == 5], [1.05] * ROLLS.count(5), "|", color="C2", label="a six")
    axes.set(xlabel="roll", ylim=(0, 1.35))
    axes.legend(ncols=3, loc="upper center", fontsize=8)
    figure.savefig(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
