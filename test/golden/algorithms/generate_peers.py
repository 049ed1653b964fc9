"""Goldens from the functions of other projects than verl and TRL. Writes peers.json.

    RETRACE_PEER_SOURCES=<checkouts> python generate_peers.py

Needs `pip install --no-deps areal==1.0.4 torchrl==0.14.1 scope-rl==0.2.1 rlax==0.1.9` with what these import, and the checkouts that
`peer_sources.py` names."""

import os
import sys

os.environ["TORCHDYNAMO_DISABLE"] = "1"
os.environ["JAX_ENABLE_X64"] = "1"

from argparse import Namespace
from types import SimpleNamespace

import numpy as np
import rlax
import torch
from areal.api.cli_args import RejectionSamplingConfig
from torchrl.objectives.value.functional import vtrace_advantage_estimate
from verl.utils import torch_functional

from batches import BATCHES, SEED, write
from peer_sources import COMMITS, checked_out, checkout_packages, installed

areal_actor = installed("areal.trainer.ppo.actor")
areal_losses = installed("areal.utils.functional.functional")
scope_rl = installed("scope_rl.ope.discrete.basic_estimators")
slime = checked_out("slime", "slime/utils/ppo_utils.py")
gigpo = checked_out("verl-agent", "gigpo/core_gigpo.py")
ragen = checked_out("RAGEN", "ragen/trainer/core_algos.py", torch=torch, verl_F=torch_functional)
spiral = checked_out("spiral", "spiral/utils.py")
checkout_packages("SkyRL", "skyrl", "skyrl.backends", "skyrl.backends.skyrl_train", "skyrl.backends.skyrl_train.utils")
skyrl = checked_out("SkyRL", "skyrl/backends/skyrl_train/utils/off_policy_correction_utils.py")
roll = checked_out("ROLL", "roll/pipeline/agentic/agentic_actor_pg_worker.py")
sys.modules["verl.trainer.ppo.maclaurin"] = checked_out("maxrl", "verl/trainer/ppo/maclaurin.py")
maxrl = checked_out("maxrl", "verl/trainer/ppo/core_algos.py")

CLIP = {"clipLow": 0.2, "clipHigh": 0.28, "dualClip": 3.0}


def areal_ppo(batch, logprobs, mask, rejection=None):
    loss, _ = areal_losses.ppo_actor_loss_fn(
        logprobs, batch.proximal, batch.behavior, batch.advantages, CLIP["clipLow"], mask, CLIP["clipHigh"], CLIP["dualClip"], rejection
    )
    return loss


def decoupled_ppo(batch, logprobs, cap, rule):
    action = {"truncate": "clamp", "filter": "mask"}[rule]
    rejection = RejectionSamplingConfig(level="token", action=action, metric="ratio", upper=cap)
    return areal_ppo(batch, logprobs, batch.mask.bool(), rejection)


def opsm(batch, logprobs, delta):
    """slime masks by the sequence's distance from the policy that sampled, and multiplies PPO's losses by it."""
    rows = [list(tensor) for tensor in (logprobs, batch.behavior, batch.advantages, batch.mask)]
    mask, _ = slime.compute_opsm_mask(Namespace(opsm_delta=delta), *rows)
    losses, _ = slime.compute_policy_loss(
        batch.proximal - logprobs, batch.advantages, CLIP["clipLow"], CLIP["clipHigh"], CLIP["dualClip"]
    )
    return (losses * mask.view_as(losses) * batch.mask).sum() / batch.mask.sum()


def sapo_sequence(batch, logprobs, positive, negative):
    loss, _ = areal_losses.sapo_loss_fn(logprobs, batch.proximal, batch.advantages, positive, negative, batch.mask.bool(), "sequence")
    return loss


def topr(batch, logprobs):
    """ROLL takes the ratio that its worker was told to; TOPR's is that of the whole sequence. Its scores have the sign of A."""
    advantages = sequence_advantages(batch)
    ratio = torch.exp(((logprobs - batch.behavior) * batch.mask).sum(-1, keepdim=True).clamp(-20, 20)).expand_as(logprobs)
    worker = SimpleNamespace(_get_or_cache_config=lambda _, value: value, _topr_sample_logged=True, _cached_metrics={})
    roll.get_episode_scores, roll.current_platform = lambda _: advantages[:, 0], SimpleNamespace(device_type="cpu")
    losses = roll.ActorWorker._compute_topr_loss(worker, ratio, logprobs, batch.behavior, advantages, None)
    return (losses * batch.mask).sum() / batch.mask.sum()


def sequence_advantages(batch):
    """The first advantage of each row, at all its tokens."""
    return batch.advantages[:, :1].expand_as(batch.mask)


def loss_cases(batch):
    yield from (("sapoSequence", {"temperaturePositive": p, "temperatureNegative": n}, sapo_sequence, {"positive": p, "negative": n}, "AReaL")
                for p, n in [(1.0, 1.05), (3.0, 0.5)])
    yield "topr", {}, topr, {}, "ROLL"
    yield from (("decoupledPpo", {**CLIP, "cap": cap, "capRule": rule}, decoupled_ppo, {"cap": cap, "rule": rule}, "AReaL")
                for cap, rule in [(1.2, "truncate"), (1.2, "filter"), (1.05, "truncate")])
    yield from (("opsm", {**CLIP, "delta": delta}, opsm, {"delta": delta}, "slime") for delta in [0.05, 0.2, 10.0])


def loss_case(batch, loss, options, function, arguments, peer):
    logprobs = batch.logprobs.clone().requires_grad_(True)
    value = function(batch, logprobs, **arguments)
    value.backward()
    return {
        "loss": loss,
        "peer": peer,
        "batch": batch.name,
        "options": options,
        "advantages": "sequence" if loss == "topr" else "token",
        "value": value.item(),
        "gradients": batch.actions(logprobs.grad),
    }


def rejection_cases(batch):
    """Sequences with a token whose ratio is out of bounds."""
    mask = batch.mask.bool()
    case = lambda peer, rules, veto, keep: {
        "peer": peer, "batch": batch.name, "rules": rules, "vetoBelow": veto, "keep": batch.actions(keep.double())
    }
    for low, high in [(None, 1.2), (None, 1.5), (1.1, 1.6)]:
        rule = {"statistic": "k1", "scope": "sequenceMax", "high": high, **({} if low is None else {"low": low})}
        config = RejectionSamplingConfig(level="sequence", action="mask", metric="ratio", agg="max", upper=high, lower=low)
        kept = areal_losses.apply_rejection_sampling(batch.proximal, batch.behavior, mask, None, config).loss_mask
        yield case("AReaL", [rule], None, kept)
    for low, high in [(None, 1.4), (0.7, 1.4), (0.6, 2.0)]:
        bounds = SimpleNamespace(outlier_token_is_threshold_low=low, outlier_token_is_threshold_high=high)
        kept, _ = skyrl.compute_outlier_token_mask(batch.proximal, batch.behavior, batch.mask, bounds)
        yield case("SkyRL", [{"statistic": "k1", "scope": "sequenceMax", "high": high}], low, kept * batch.mask)


def proximal_case(batch, current_version):
    """AReaL estimates the proximal policy between the one that sampled and the one that is trained."""
    versions = torch.tensor([[(row + t) % 5 for t in range(batch.width)] for row in range(len(batch.lengths))])
    estimates = areal_actor.compute_prox_logp_approximations(batch.behavior, batch.logprobs, versions, current_version, "loglinear")
    return {
        "batch": batch.name,
        "policyVersionIn": current_version - 1,
        "versions": batch.actions(versions),
        "logprobs": batch.actions(estimates["loglinear"].double()),
    }


def max_rl_case(batch):
    rewards = batch.outcome_rewards.abs()
    advantages, _ = maxrl.compute_maxrl_outcome_advantage(rewards, batch.mask, batch.groups)
    return {"batch": batch.name, "returns": rewards.sum(-1).tolist(), "advantages": batch.actions(advantages.double())}


def m2po_case(batch, threshold):
    """Which tokens AReaL keeps."""
    kept = areal_actor._apply_m2po_masking(batch.behavior, batch.proximal, batch.mask.bool(), threshold)
    return {"batch": batch.name, "threshold": threshold, "kept": batch.actions(kept.double())}


def turns_of(batch):
    """Runs of action tokens: (row, first, end)."""
    for row, mask in enumerate(batch.mask.tolist()):
        start = None
        for t, bit in enumerate([*mask, 0.0]):
            if bit and start is None:
                start = t
            if not bit and start is not None:
                yield row, start, t
                start = None


def gigpo_case(batch, mode, gamma, weight):
    """verl-agent has a row a step: the tokens of a turn, with the return of the whole episode as its reward."""
    turns = list(turns_of(batch))
    anchors = np.array([[1, 2, 1, 3][(row + first) % 4] for row, first, _ in turns])
    rows = np.array([row for row, *_ in turns])
    rewards = np.array([batch.dense_rewards[row, first:end].sum().item() for row, first, end in turns])
    returns = torch.tensor([sum(rewards[rows == row]) for row in rows], dtype=torch.float64)
    data = SimpleNamespace(
        non_tensor_batch={"rewards": rewards, "traj_uid": rows, "active_masks": np.ones(len(rows))},
        batch={"input_ids": returns},
    )
    step_returns = gigpo.compute_step_discounted_returns(data, gamma)
    advantages, _ = gigpo.compute_gigpo_outcome_advantage(
        returns[:, None], step_returns, torch.ones(len(rows), 1), anchors, batch.groups[rows], rows, 1e-6, weight, mode
    )
    normalization = {"mean_std_norm": "meanStd", "mean_norm": "mean"}[mode]
    options = {"normalization": normalization, "stepGamma": gamma, "stepWeight": weight, "weighting": "stepRows"}
    return {
        "batch": batch.name,
        "options": options,
        "turns": [[row, first, end] for row, first, end in turns],
        "anchors": anchors.tolist(),
        "stepAdvantages": advantages[:, 0].double().tolist(),
    }


def bi_level_gae_case(batch, gamma, turn_gamma, lam):
    """RAGEN finds the end of a turn by its reward and whitens the advantages; before that they are returns − values."""
    turns = list(turns_of(batch))
    rewards = torch.zeros_like(batch.mask)
    for row, first, end in turns:
        rewards[row, end - 1] = batch.dense_rewards[row, first:end].sum()
    _, returns = ragen.compute_bi_level_gae_advantage_return(rewards, batch.values, batch.mask, gamma, lam, turn_gamma)
    return {
        "batch": batch.name,
        "options": {"gamma": gamma, "turnGamma": turn_gamma, "lambda": lam},
        "turns": [[row, first, end] for row, first, end in turns],
        "advantages": batch.actions(returns.double() - batch.values),
        "returns": batch.actions(returns.double()),
    }


def episode_columns(batch, row):
    keep = batch.mask[row].bool()
    columns = [tensor[row][keep] for tensor in (batch.dense_rewards, batch.values, batch.proximal, batch.behavior)]
    end = batch.final_values[row : row + 1] * float(batch.truncated[row])
    return *columns, end


def vtrace_cases(batch):
    for gamma, lam, rho_max, policy_rho_max in [(0.97, 1.0, 1.0, 1.0), (0.9, 0.7, 1.5, 1.2)]:
        advantages, returns = [], []
        for row in range(len(batch.lengths)):
            rewards, values, proximal, behavior, end = episode_columns(batch, row)
            if len(rewards) == 0:
                continue
            rho, next_values = np.exp((proximal - behavior).numpy()), torch.cat([values[1:], end]).numpy()
            out = rlax.vtrace_td_error_and_advantage(
                values.numpy(), next_values, rewards.numpy(), np.full(len(rewards), gamma), rho, lam, rho_max, policy_rho_max
            )
            advantages += np.asarray(out.pg_advantage).tolist()
            returns += (np.asarray(out.errors) + values.numpy()).tolist()
        options = {"gamma": gamma, "lambda": lam, "rhoMax": rho_max, "traceMax": 1.0, "policyRhoMax": policy_rho_max}
        yield {"peer": "rlax", "batch": batch.name, "options": options, "advantages": advantages, "returns": returns}
    for gamma, rho_max, trace_max in [(0.97, 1.0, 1.0), (0.9, 1.5, 1.1)]:
        advantages, returns = [], []
        for row in range(len(batch.lengths)):
            rewards, values, proximal, behavior, end = (x[:, None] for x in episode_columns(batch, row))
            if len(rewards) == 0:
                continue
            done = torch.zeros(len(rewards), 1, dtype=torch.bool)
            done[-1] = True
            terminated = done & (not batch.truncated[row])
            next_values = torch.cat([values[1:], end])
            a, v = vtrace_advantage_estimate(gamma, proximal, behavior, values, next_values, rewards, done, terminated, rho_max, trace_max)
            advantages += a[:, 0].tolist()
            returns += v[:, 0].tolist()
        options = {"gamma": gamma, "lambda": 1.0, "rhoMax": rho_max, "traceMax": trace_max, "policyRhoMax": rho_max}
        yield {"peer": "torchrl", "batch": batch.name, "options": options, "advantages": advantages, "returns": returns}


def retrace_case(batch, gamma, lam):
    """`values` stand for Q, `reference` for E_π Q."""
    returns = []
    for row in range(len(batch.lengths)):
        rewards, q, proximal, behavior, end = episode_columns(batch, row)
        if len(rewards) == 0:
            continue
        expected = torch.cat([batch.reference[row][batch.mask[row].bool()][1:], end]).numpy()
        traces = lam * np.minimum(1, np.exp((proximal - behavior).numpy()))
        discounts = np.full(len(rewards), gamma)
        targets = rlax.general_off_policy_returns_from_q_and_v(q.numpy()[1:], expected, rewards.numpy(), discounts, traces[1:])
        returns += np.asarray(targets).tolist()
    return {"batch": batch.name, "options": {"gamma": gamma, "lambda": lam}, "returns": returns}


def evaluation_case(gamma):
    """scope-rl takes episodes of one length and a discrete action."""
    random = np.random.default_rng(SEED)
    episodes, steps = 8, 5
    single = lambda array: array.astype(np.float32).astype(np.float64)
    candidate = single(random.uniform(0.2, 0.8, size=(episodes * steps, 1)))
    candidate = np.concatenate([candidate, 1 - candidate], axis=1)
    behavior = single(random.uniform(0.3, 0.7, size=episodes * steps))
    action = random.integers(0, 2, size=episodes * steps)
    rewards = single(random.normal(size=episodes * steps))
    q = single(random.normal(size=(episodes * steps, 2)))
    common = dict(step_per_trajectory=steps, action=action, reward=rewards, pscore=behavior, evaluation_policy_action_dist=candidate, gamma=gamma)
    peers = {
        "importanceSampling": scope_rl.TrajectoryWiseImportanceSampling(),
        "perDecision": scope_rl.PerDecisionImportanceSampling(),
        "weightedImportanceSampling": scope_rl.SelfNormalizedTIS(),
        "doublyRobust": scope_rl.DoublyRobust(),
    }
    chosen = np.arange(len(action)), action
    return {
        "gamma": gamma,
        "numSteps": steps,
        "rewards": rewards.tolist(),
        "candidateProbabilities": candidate[chosen].tolist(),
        "behaviorProbabilities": behavior.tolist(),
        "qValues": q[chosen].tolist(),
        "stateValues": (q * candidate).sum(1).tolist(),
        "values": {name: peer.estimate_policy_value(**common, state_action_value_prediction=q) for name, peer in peers.items()},
    }


def role_baseline_case(decay):
    """SPIRAL updates a role's mean after each episode; a batch of ours has one episode here."""
    random = np.random.default_rng(SEED)
    roles = random.integers(0, 3, size=12)
    returns = random.normal(size=12).astype(np.float32).astype(np.float64)
    means = [spiral.EMA(decay) for _ in range(3)]
    advantages = []
    for role, value in zip(roles, returns):
        advantages.append(value - means[role].get())
        means[role].update(value)
    return {
        "decay": decay,
        "roleIds": roles.tolist(),
        "returns": returns.tolist(),
        "advantages": advantages,
        "baselines": [mean.get() for mean in means],
    }


if __name__ == "__main__":
    batches = list(BATCHES.values())
    multi_turn = BATCHES["multiTurn"]
    modes = [("mean_std_norm", 0.95, 1.0), ("mean_norm", 0.9, 0.5)]
    content = {
        "sources": {name: f"{repository}@{commit}" for name, (repository, commit) in COMMITS.items()},
        "policyLosses": [loss_case(batch, *case) for batch in batches for case in loss_cases(batch)],
        "m2po": [m2po_case(batch, threshold) for batch in batches for threshold in [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1]],
        "rejections": [case for batch in batches for case in rejection_cases(batch)],
        "proximal": [proximal_case(batch, version) for batch in batches for version in [5, 7]],
        "maxRl": [max_rl_case(batch) for batch in batches],
        "gigpo": [gigpo_case(batch, *mode) for batch in batches for mode in modes],
        "biLevelGae": [bi_level_gae_case(batch, *o) for batch in batches for o in [(1.0, 0.95, 1.0), (0.97, 0.9, 0.8)]],
        "vtrace": [case for batch in batches for case in vtrace_cases(batch)],
        "retrace": [retrace_case(batch, gamma, lam) for batch in batches for gamma, lam in [(0.97, 1.0), (0.9, 0.7)]],
        "offPolicyEvaluation": [evaluation_case(gamma) for gamma in [1.0, 0.9]],
        "rae": [role_baseline_case(decay) for decay in [0.95, 0.5]],
    }
    write("peers.json", "generate_peers.py", 1e-5, content, ("torch", "verl", "areal", "torchrl", "rlax", "scope-rl", "numpy"))
