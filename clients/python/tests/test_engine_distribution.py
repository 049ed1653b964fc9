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


def test_large_gradients_that_cancel_are_right_in_bfloat16() -> None:
    from retrace.engine.distribution import RowColumns, logits_gradient

    # A policy that is sure, and a teacher that is not: 1[id]·g - p·Σg cancels.
    p = torch.tensor([[0.9, 0.0999, 0.00005, 0.00005]])
    chosen, derivatives = torch.tensor([[0, 1]]), torch.tensor([[2700.0, 299.0]])
    logits, none = p.log().to(torch.bfloat16), torch.zeros(1)
    exact = logits.float().double()
    sums = exact.logsumexp(1)
    columns = RowColumns(torch.tensor([2]), sums.float(), none, none, none, derivatives.sum(1))
    found = logits_gradient(logits, columns, chosen, derivatives, 1.0)
    expected = -exact.softmax(1) * derivatives.sum()
    expected.scatter_add_(1, chosen, derivatives.double())
    torch.testing.assert_close(found.double(), expected, rtol=0.01, atol=1e-3)


@pytest.mark.parametrize("temperature", [1.0, TEMPERATURE])
def test_the_gradient_of_chosen_ids_alone_is_that_of_their_places(temperature: float) -> None:
    from retrace.engine.distribution import RowColumns, chosen_gradient, logits_gradient

    hidden, head, targets, chosen, (d_logprobs, d_entropies, d_chosen) = inputs()
    logits = (hidden @ head.t()).detach()
    log_p = torch.log_softmax(logits / temperature, 1)
    sums, entropies = (logits / temperature).logsumexp(1), -(log_p.exp() * log_p).sum(1)
    totals = d_logprobs + d_chosen.sum(1)
    columns = RowColumns(targets, sums, entropies, d_logprobs, d_entropies, totals)
    alone = chosen_gradient(logits.gather(1, chosen), columns, chosen, d_chosen, temperature)
    whole = logits_gradient(logits, columns, chosen, d_chosen, temperature)
    torch.testing.assert_close(alone, whole.gather(1, chosen), rtol=1e-4, atol=1e-5)
