"""Golden values of whole updates: PPO, GRPO and GiGPO, from stored tokens to new weights, by torch (CPU, float32).

    pip install torch transformers safetensors numpy
    python generate_updates.py     # writes updates.json and the .safetensors files beside itself

Made with torch 2.13.0, transformers 5.23.0, safetensors 0.8.0.

The model is `../policy/models/llama` with a linear value head; it starts with moments of AdamW that are not zero. Logprobs
of the batch are its own, except in `grpo`, whose tokens another policy sampled. Forward, backward, clipping of the norm
and AdamW are torch's; everything between is written here from the papers, and shares nothing with Retrace.
"""

import json
import pathlib

import torch
from safetensors.torch import save_file
from transformers import LlamaForCausalLM

HERE = pathlib.Path(__file__).parent
MODEL = HERE.parent / "policy" / "models" / "llama"
VERSION = 7
TEMPERATURE = 0.8
ADAMW = dict(beta1=0.9, beta2=0.95, epsilon=1e-8, weightDecay=0.05)
LEARNING_RATE = 0.004
MAX_NORM = 0.7
EPOCHS = 2
FIRST_STEPS = 5

torch.manual_seed(20261124)


def tokens(count):
    return torch.randint(3, 32, (count,)).tolist()


def make_episodes():
    """Two groups of three episodes; the two states of a group's second step repeat, which GiGPO compares."""
    episodes = []
    for group in range(2):
        for member in range(3):
            steps = [
                dict(
                    observation=tokens(2 + (group + member + k) % 3),
                    action=tokens(1 + (member + 2 * k) % 3),
                    reward=[0.0, 0.25, -0.5, 1.0][(5 * group + 3 * member + k) % 4],
                    anchor=f"{group}:{'start' if k == 0 else 'ab'[member % 2] + str(k)}",
                )
                for k in range(2 + (group + member) % 2)
            ]
            cut = group == 1 and member == 1
            episodes.append(
                dict(group=f"group-{group}", steps=steps, truncated=cut, final=tokens(2) if cut else [])
            )
    return episodes


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = LlamaForCausalLM.from_pretrained(MODEL, dtype=torch.float32)
        self.value_head = torch.nn.Linear(self.model.config.hidden_size, 1, bias=False)

    def read(self, ids):
        """log π of each token but the first, the entropies of their distributions, and V before each and after the last."""
        out = self.model(torch.tensor([ids]), output_hidden_states=True)
        logp = torch.log_softmax(out.logits[0] / TEMPERATURE, -1)
        hidden = out.hidden_states[-1][0]
        chosen = logp[:-1].gather(1, torch.tensor(ids)[1:, None]).flatten()
        entropies = -(logp.exp() * logp).sum(-1)[:-1]
        return chosen, entropies, self.value_head(hidden).flatten()


def sequence_of(episode):
    """Tokens of an episode, the positions of its actions, and the number of actions of each step."""
    ids, actions, lengths = [], [], []
    for step in episode["steps"]:
        ids += step["observation"]
        actions += range(len(ids), len(ids) + len(step["action"]))
        ids += step["action"]
        lengths.append(len(step["action"]))
    return ids, actions, lengths


def read_actions(policy, episode):
    ids, actions, _ = sequence_of(episode)
    before = torch.tensor(actions) - 1
    chosen, entropies, values = policy.read(ids)
    return chosen[before], entropies[before], values[before]


def whiten(x):
    return (x - x.mean()) / torch.sqrt(x.var(unbiased=True) + 1e-8)


def gae(policy, episodes, gamma, lam):
    """Schulman et al., arXiv:1506.02438: one recursion over the action tokens of an episode; a step's reward is at its last."""
    advantages, returns = [], []
    for episode in episodes:
        _, _, values = read_actions(policy, episode)
        ids, _, lengths = sequence_of(episode)
        rewards = torch.cat(
            [torch.tensor([0.0] * (n - 1) + [s["reward"]]) for n, s in zip(lengths, episode["steps"])]
        )
        after = policy.read(ids + episode["final"])[2][-1].item() if episode["truncated"] else 0.0
        adv, carried, following = torch.zeros(len(rewards)), 0.0, after
        for t in reversed(range(len(rewards))):
            carried = (
                rewards[t].item() + gamma * following - values[t].item() + gamma * lam * carried
            )
            following = values[t].item()
            adv[t] = carried
        advantages.append(adv)
        returns.append(adv + values)
    return advantages, returns


def grpo(episodes):
    """Shao et al., arXiv:2402.03300: (R − mean)/(std + 1e-6) in the group, std with Bessel's correction."""
    totals = torch.tensor([sum(s["reward"] for s in e["steps"]) for e in episodes])
    out = []
    for e, total in zip(episodes, totals):
        mine = torch.stack([t for o, t in zip(episodes, totals) if o["group"] == e["group"]])
        out.append((total - mine.mean()) / (mine.std(unbiased=True) + 1e-6))
    return [a.repeat(len(sequence_of(e)[1])) for a, e in zip(out, episodes)]


def gigpo(episodes, gamma, weight):
    """Feng et al., arXiv:2505.10978: GRPO's, and the discounted return of a step among those in an equal state of the group."""
    keyed = {}
    for e, episode in enumerate(episodes):
        to_go = 0.0
        for k in reversed(range(len(episode["steps"]))):
            to_go = episode["steps"][k]["reward"] + gamma * to_go
            keyed.setdefault((episode["group"], episode["steps"][k]["anchor"]), {})[(e, k)] = to_go
    of_step = {}
    for members in keyed.values():
        values = torch.tensor(list(members.values()))
        for place, value in members.items():
            of_step[place] = (
                0.0 if len(values) == 1 else (value - values.mean().item()) / (values.std().item() + 1e-6)
            )
    whole = grpo(episodes)
    return [
        whole[e]
        + weight
        * torch.cat([torch.full((n,), of_step[(e, k)]) for k, n in enumerate(sequence_of(episode)[2])])
        for e, episode in enumerate(episodes)
    ]


def clipped(logp, old, advantages, low, high):
    ratio = torch.exp(logp - old)
    return torch.maximum(-advantages * ratio, -advantages * ratio.clamp(1 - low, 1 + high))


def optimizer_of(policy, moments):
    """torch's AdamW in the middle of a run; matrices decay, norms do not."""
    named = dict(policy.named_parameters())
    groups = [
        dict(params=[p for p in named.values() if p.dim() > 1], weight_decay=ADAMW["weightDecay"]),
        dict(params=[p for p in named.values() if p.dim() == 1], weight_decay=0.0),
    ]
    betas = (ADAMW["beta1"], ADAMW["beta2"])
    adamw = torch.optim.AdamW(groups, lr=LEARNING_RATE, betas=betas, eps=ADAMW["epsilon"])
    for name, p in named.items():
        first, second = moments[name]
        adamw.state[p] = dict(
            step=torch.tensor(float(FIRST_STEPS)), exp_avg=first.clone(), exp_avg_sq=second.clone()
        )
    return adamw


def stored_name(name):
    """As a checkpoint of Retrace names it, which is as transformers does."""
    return name.removeprefix("model.")


def weights_of(policy):
    return {stored_name(n): p.detach().clone().contiguous() for n, p in policy.named_parameters()}


def train(start, moments, loss_of):
    policy = Policy()
    policy.load_state_dict(start)
    adamw = optimizer_of(policy, moments)
    losses, norms = [], []
    for _ in range(EPOCHS):
        adamw.zero_grad()
        loss = loss_of(policy)
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(policy.parameters(), MAX_NORM).item())
        losses.append(loss.item())
        adamw.step()
    return weights_of(policy), losses, norms


def main():
    policy = Policy()
    with torch.no_grad():
        policy.value_head.weight.normal_(0, 0.2)
    start = {k: v.clone() for k, v in policy.state_dict().items()}
    moments = {
        n: (0.01 * torch.randn_like(p), 0.001 * torch.rand_like(p) + 1e-4)
        for n, p in policy.named_parameters()
    }
    episodes = make_episodes()
    with torch.no_grad():
        own = [read_actions(policy, e)[0] for e in episodes]
        others = [lp + 0.3 * torch.randn_like(lp) for lp in own]
        reference = Policy()
        reference.load_state_dict(start)
        for p in reference.parameters():
            p.add_(0.01 * torch.randn_like(p))
        of_reference = [read_actions(reference, e)[0] for e in episodes]
        old_values = torch.cat([read_actions(policy, e)[2] for e in episodes])
        gae_advantages, gae_returns = gae(policy, episodes, 0.97, 0.9)

    old = torch.cat(own)
    lengths = [len(x) for x in own]
    whitened = whiten(torch.cat(gae_advantages))
    returns = torch.cat(gae_returns)

    def all_actions(p):
        return [torch.cat(x) for x in zip(*[read_actions(p, e) for e in episodes])]

    def ppo_loss(p):
        logp, entropies, values = all_actions(p)
        held = old_values + (values - old_values).clamp(-0.02, 0.02)
        value = 0.5 * torch.maximum((values - returns) ** 2, (held - returns) ** 2)
        terms = clipped(logp, old, whitened, 0.2, 0.2) + 0.5 * value - 0.01 * entropies
        return terms.mean()

    # Each token counts by how much likelier the policy at the start found it than the one that sampled, at most 1.2 times.
    weights = torch.exp(old - torch.cat(others)).clamp(max=1.2)
    grpo_advantages = torch.cat(grpo(episodes))
    references = torch.cat(of_reference)

    def grpo_loss(p):
        logp, _, _ = all_actions(p)
        kl = torch.exp(references - logp) - (references - logp) - 1
        terms = weights * clipped(logp, old, grpo_advantages, 0.2, 0.28) + 0.04 * kl
        return torch.stack([part.mean() for part in terms.split(lengths)]).mean()

    gigpo_advantages = torch.cat(gigpo(episodes, 0.95, 1.0))

    def gigpo_loss(p):
        logp, _, _ = all_actions(p)
        return clipped(logp, old, gigpo_advantages, 0.2, 0.2).mean()

    golden = dict(
        version=VERSION,
        temperature=TEMPERATURE,
        optimizer=dict(**ADAMW, learningRate=LEARNING_RATE, maxGradientNorm=MAX_NORM, epochs=EPOCHS),
        episodes=[
            dict(e, logprobs=[lp.tolist() for lp in a.split(sequence_of(e)[2])],
                 otherLogprobs=[lp.tolist() for lp in b.split(sequence_of(e)[2])])
            for e, a, b in zip(episodes, own, others)
        ],
        updates={},
    )
    advantages = dict(ppo=whitened, grpo=grpo_advantages, gigpo=gigpo_advantages)
    for name, loss_of in dict(ppo=ppo_loss, grpo=grpo_loss, gigpo=gigpo_loss).items():
        after, losses, norms = train(start, moments, loss_of)
        save_file(after, HERE / f"{name}.safetensors")
        golden["updates"][name] = dict(
            losses=losses, gradientNorms=norms, advantages=advantages[name].tolist()
        )
    policy.load_state_dict(start)
    save_file(weights_of(policy), HERE / "start.safetensors")
    save_file(weights_of(reference), HERE / "reference.safetensors")
    named = {stored_name(n): m for n, m in moments.items()}
    state = {f"first_moment.{n}": m[0] for n, m in named.items()}
    state |= {f"second_moment.{n}": m[1] for n, m in named.items()}
    save_file(state, HERE / "optimizer.safetensors", metadata=dict(step=str(FIRST_STEPS)))
    (HERE / "updates.json").write_text(json.dumps(golden, indent=1) + "\n")


main()
