"""Goldens of rollout correction, from verl's rollout_corr_helper. Writes corrections.json."""

from verl.trainer.ppo import rollout_corr_helper as helper

from batches import BATCHES, write


def weight_cases(batch):
    log_ratio = batch.proximal - batch.behavior
    for level in ["token", "sequence"]:
        for cap, floor, normalize in [(1.3, None, False), (1.3, 0.8, False), (1.3, None, True)]:
            spec = cap if floor is None else f"{floor}_{cap}"
            weights, _ = helper.compute_rollout_correction_weights(log_ratio, batch.mask, level, spec, normalize)
            yield {
                "batch": batch.name,
                "options": {"level": level, "cap": cap, "floor": floor, "normalize": normalize},
                "weights": batch.actions(weights),
            }


def rejection_cases(batch):
    """verl bounds −log ρ by the logarithms of its k1 range, so ρ lies between the inverses of its bounds."""
    log_ratio = batch.proximal - batch.behavior
    scopes = {"token": "token", "seq_sum": "sequenceSum", "seq_mean": "sequenceMean", "seq_max": "sequenceMax"}
    for theirs, ours in scopes.items():
        for statistic, high in [("k2", 0.04), ("k3", 0.05)]:
            kept, _ = helper.compute_rollout_rejection_mask(log_ratio, batch.mask, f"{theirs}_{statistic}", high)
            rule = {"statistic": statistic, "scope": ours, "high": high}
            yield {"batch": batch.name, "rules": [rule], "keep": batch.actions(kept)}
        if theirs == "seq_max":
            continue
        low, high = 0.8, 1.5
        kept, _ = helper.compute_rollout_rejection_mask(log_ratio, batch.mask, f"{theirs}_k1", f"{low}_{high}")
        rule = {"statistic": "k1", "scope": ours, "low": 1 / high, "high": 1 / low}
        yield {"batch": batch.name, "rules": [rule], "keep": batch.actions(kept)}
    kept, _ = helper.compute_rollout_rejection_mask(log_ratio, batch.mask, "token_k2,seq_mean_k3", "0.1,0.06")
    rules = [
        {"statistic": "k2", "scope": "token", "high": 0.1},
        {"statistic": "k3", "scope": "sequenceMean", "high": 0.06},
    ]
    yield {"batch": batch.name, "rules": rules, "keep": batch.actions(kept)}


def metrics(batch):
    """Without the empty row, which verl counts as a sequence with ratio 1."""
    rows = [i for i, n in enumerate(batch.lengths) if n > 0]
    ours = helper.compute_offpolicy_metrics(batch.proximal[rows], batch.behavior[rows], batch.mask[rows])
    return {
        "batch": batch.name,
        "kl": ours["kl"],
        "klK3": ours["k3_kl"],
        "chiSquareToken": ours["chi2_token"],
        "chiSquareSequence": ours["chi2_seq"],
        "perplexityRatio": ours["ppl_ratio"],
    }


if __name__ == "__main__":
    content = {
        "weights": [c for batch in BATCHES.values() for c in weight_cases(batch)],
        "rejections": [c for batch in BATCHES.values() for c in rejection_cases(batch)],
        "metrics": [metrics(batch) for batch in BATCHES.values()],
    }
    write("corrections.json", "generate_corrections.py", 1e-5, content)
