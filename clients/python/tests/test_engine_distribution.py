"""The distribution of the LM head beside torch's own log-softmax, in one chunk and in many."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip(
    "torch", reason="skipped, because torch is not installed: npm run test:engines installs it"
)

ROWS, HIDDEN, VOCABULARY, TEMPERATURE, CHOSEN = 12, 8, 32, 0.7, 3
ONE_CHUNK, MANY_CHUNKS = ROWS * VOCABULARY, 5 * VOCABULARY


def inputs() -> tuple[Any, ...]:
    torch.manual_seed(1)
    hidden = torch.randn(ROWS, HIDDEN, requires_grad=True)
    head = torch.randn(VOCABULARY, HIDDEN, requires_grad=True)
    targets, chosen = torch.randint(VOCABULARY, (ROWS,)), torch.randint(VOCABULARY, (ROWS, CHOSEN))
    # The target may be chosen, and an id twice.
    chosen[:, 0], chosen[3, 1] = targets, targets[3]
    return hidden, head, targets, chosen, (torch.randn(ROWS), torch.randn(ROWS), torch.randn(ROWS, CHOSEN))


def outputs(hidden: Any, head: Any, targets: Any, chosen: Any, max_logits: int) -> tuple[Any, ...]:
    from retrace.engine.distribution import TokenDistribution

    logprobs, entropies, _, of_chosen = TokenDistribution.apply(
        hidden, head, targets, TEMPERATURE, max_logits, chosen
    )
    return logprobs, entropies, of_chosen


def gradients(
    columns: tuple[Any, ...], of: tuple[Any, ...], weights: Any, **options: bool
) -> tuple[Any, ...]:
    loss = sum((weight * column).sum() for weight, column in zip(weights, columns, strict=True))
    found: tuple[Any, ...] = torch.autograd.grad(loss, of, **options)
    return found


def plain() -> tuple[Any, ...]:
    hidden, head, targets, chosen, weights = inputs()
    log_p = torch.log_softmax(hidden @ head.t() / TEMPERATURE, 1)
    columns = log_p[range(ROWS), targets], -(log_p.exp() * log_p).sum(1), log_p.gather(1, chosen)
    return (*columns, *gradients(columns, (hidden, head), weights))


@pytest.mark.parametrize("max_logits", [ONE_CHUNK, MANY_CHUNKS])
def test_outputs_and_gradients_are_those_of_a_log_softmax(max_logits: int) -> None:
    hidden, head, targets, chosen, weights = inputs()
    columns = outputs(hidden, head, targets, chosen, max_logits)
    ours = (*columns, *gradients(columns, (hidden, head), weights))
    for found, expected in zip(ours, plain(), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_a_gradient_may_be_asked_for_twice() -> None:
    hidden, head, targets, chosen, weights = inputs()
    columns = outputs(hidden, head, targets, chosen, ONE_CHUNK)
    first = gradients(columns, (hidden, head), weights, retain_graph=True)
    second = gradients(columns, (hidden, head), weights)
    for one, other in zip(first, second, strict=True):
        assert torch.equal(one, other)
