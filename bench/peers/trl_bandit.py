"""Trains the bandit with TRL's GRPOTrainer, for bench/seconds-to-success.bench.mjs.

    python trl_bandit.py <job.json>

The job names a model directory, the tasks of the updates, and the settings of the recipe. Writes one JSON line with the versions and how well
model, prompts and verdicts agree with Retrace's, then one for each update when its answers have been judged: {"update": n, "success": fraction}.
Ends when the mean success of the last updates reaches the target.
"""

import json
import pathlib
import sys

import torch
import transformers
import trl
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

# The stubs that stand in for CUDA's libraries (cuda_stubs.py) have nothing to answer with.
torch.cuda.is_current_stream_capturing = lambda: False

job = json.loads(pathlib.Path(sys.argv[1]).read_text())
torch.set_num_threads(job["numThreads"])
transformers.set_seed(job["seed"])
model = AutoModelForCausalLM.from_pretrained(job["directory"], dtype=torch.float32)
tokenizer = AutoTokenizer.from_pretrained(job["directory"])
group_size = job["groupSize"]


def answer(value):
    print(json.dumps(value), flush=True)


def succeeds(completion, arms, high_arm):
    """Decides as the environment `bandit` does; its ReAct prefix can't be written in these words."""
    word = completion.strip().lower()
    return word in arms and word == high_arm


def largest_logprob_difference():
    """Compares with the log probabilities that Retrace's collector stored for what it sampled from the same weights."""
    rows = job["sampled"]
    tokens = torch.tensor([row["tokenIds"] for row in rows])
    with torch.no_grad():
        logprobs = model(tokens).logits[:, -2].double().log_softmax(-1)
    chosen = logprobs.gather(1, tokens[:, -1:])[:, 0]
    return (chosen - torch.tensor([row["logprob"] for row in rows]).double()).abs().max().item()


def disagreements():
    """Counts stored episodes whose prompt would have other tokens here, or whose answer another verdict."""
    count = 0
    for row in job["sampled"]:
        prompt = tokenizer(row["prompt"])["input_ids"]
        completion = tokenizer.decode(row["tokenIds"][len(prompt) :], skip_special_tokens=True)
        is_success = succeeds(completion, row["arms"], row["highArm"])
        count += prompt != row["tokenIds"][: len(prompt)] or is_success != row["success"]
    return count


successes = []


def judge(completions, arms, highArm, **_):
    """Rewards the answers of one update: 1 for success, else 0."""
    verdicts = [succeeds(*answered) for answered in zip(completions, arms, highArm, strict=True)]
    successes.append(sum(verdicts) / len(verdicts))
    answer({"update": len(successes) - 1, "success": successes[-1], "episodes": len(verdicts)})
    return [float(verdict) for verdict in verdicts]


class StopAtTarget(TrainerCallback):
    def on_step_end(self, args, state, control, **_):
        recent = successes[-job["movingUpdates"] :]
        if len(recent) == job["movingUpdates"] and sum(recent) / len(recent) >= job["target"]:
            control.should_training_stop = True


episodes_per_update = job["groupsPerUpdate"] * group_size
config = GRPOConfig(
    output_dir=job["output"],
    seed=job["seed"],
    use_cpu=True,
    bf16=False,
    gradient_checkpointing=False,
    generation_batch_size=episodes_per_update,
    per_device_train_batch_size=episodes_per_update // job["miniBatches"],
    num_generations=group_size,
    num_iterations=job["epochs"],
    max_steps=job["numUpdates"] * job["epochs"] * job["miniBatches"],
    learning_rate=job["learningRate"],
    lr_scheduler_type="constant",
    adam_beta1=job["beta1"],
    adam_beta2=job["beta2"],
    adam_epsilon=job["epsilon"],
    weight_decay=job["weightDecay"],
    max_completion_length=job["maxNewTokens"],
    temperature=job["temperature"],
    top_p=1.0,
    top_k=0,
    beta=job["klCoefficient"],
    epsilon=job["clipLow"],
    epsilon_high=job["clipHigh"],
    loss_type="bnpo",
    scale_rewards="group",
    max_grad_norm=job["maxGradientNorm"],
    shuffle_dataset=False,
    save_strategy="no",
    logging_strategy="no",
    report_to=[],
    disable_tqdm=True,
)
versions = {"torch": torch.__version__, "transformers": transformers.__version__, "trl": trl.__version__}
checks = {"largestDifference": largest_logprob_difference(), "disagreements": disagreements()}
answer({"versions": versions, **checks})
trainer = GRPOTrainer(
    model=model,
    reward_funcs=judge,
    args=config,
    train_dataset=Dataset.from_list(job["tasks"]),
    processing_class=tokenizer,
    callbacks=[StopAtTarget()],
)
answer({"training": True})
trainer.train()
