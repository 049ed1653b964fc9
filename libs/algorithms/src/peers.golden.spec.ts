import { describe, expect, it } from 'vitest';
import {
  aggregationWeights,
  biLevelGae,
  computePolicyLoss,
  countForAggregation,
  evaluateOffPolicy,
  getPolicyLoss,
  gigpo,
  maxRl,
  toOffsets,
  OFF_POLICY_ESTIMATORS,
  proximalShares,
  rae,
  rejectTokens,
  resolvePolicyLossOptions,
  retrace,
  selectLossTokens,
  vtrace,
  type PolicyLossInput,
  type RejectionRule,
} from './index.js';
import { expectClose } from './testing/expect-close.js';
import { goldenBatch, readGolden, type GoldenBatch } from './testing/golden.js';

/** Runs of action tokens: row, first token and the token behind the last. */
type Turns = readonly (readonly [row: number, first: number, end: number])[];

interface Peers {
  readonly relativeTolerance: number;
  readonly policyLosses: readonly {
    readonly loss: string;
    readonly peer: string;
    readonly batch: string;
    readonly options: Record<string, unknown>;
    readonly advantages: 'token' | 'sequence';
    readonly value: number;
    readonly gradients: number[];
  }[];
  readonly rejections: readonly {
    readonly peer: string;
    readonly batch: string;
    readonly rules: RejectionRule[];
    readonly vetoBelow: number | null;
    readonly keep: number[];
  }[];
  readonly proximal: readonly {
    readonly batch: string;
    readonly policyVersionIn: number;
    readonly versions: number[];
    readonly logprobs: number[];
  }[];
  readonly maxRl: readonly {
    readonly batch: string;
    readonly returns: number[];
    readonly advantages: number[];
  }[];
  readonly m2po: readonly { readonly batch: string; readonly threshold: number; readonly kept: number[] }[];
  readonly gigpo: readonly {
    readonly batch: string;
    readonly options: Record<string, never>;
    readonly turns: Turns;
    readonly anchors: number[];
    readonly stepAdvantages: number[];
  }[];
  readonly biLevelGae: readonly {
    readonly batch: string;
    readonly options: { readonly gamma: number; readonly turnGamma: number; readonly lambda: number };
    readonly turns: Turns;
    readonly advantages: number[];
    readonly returns: number[];
  }[];
  readonly vtrace: readonly {
    readonly peer: string;
    readonly batch: string;
    readonly options: {
      readonly gamma: number;
      readonly lambda: number;
      readonly rhoMax: number;
      readonly traceMax: number;
      readonly policyRhoMax: number;
    };
    readonly advantages: number[];
    readonly returns: number[];
  }[];
  readonly retrace: readonly {
    readonly batch: string;
    readonly options: { readonly gamma: number; readonly lambda: number };
    readonly returns: number[];
  }[];
  readonly offPolicyEvaluation: readonly {
    readonly gamma: number;
    readonly numSteps: number;
    readonly rewards: number[];
    readonly candidateProbabilities: number[];
    readonly behaviorProbabilities: number[];
    readonly qValues: number[];
    readonly stateValues: number[];
    readonly values: Record<string, number>;
  }[];
  readonly rae: readonly {
    readonly decay: number;
    readonly roleIds: number[];
    readonly returns: number[];
    readonly advantages: number[];
    readonly baselines: number[];
  }[];
}

const peers = readGolden('peers.json') as Peers;
const close = (actual: ArrayLike<number>, expected: ArrayLike<number>): void => {
  expectClose(actual, expected, peers.relativeTolerance);
};

function lossInput(batch: GoldenBatch): PolicyLossInput {
  const counts = countForAggregation({ offsets: batch.offsets });
  return {
    offsets: batch.offsets,
    logprobs: batch.column('logprobs'),
    proximalLogprobs: batch.column('proximal'),
    behaviorLogprobs: batch.column('behavior'),
    advantages: batch.column('advantages'),
    weights: aggregationWeights({ offsets: batch.offsets }, { aggregation: 'tokenMean', counts }),
  };
}

/** Steps over action tokens, and episodes over steps. */
function stepLayout(batch: GoldenBatch, turns: Turns): { stepOffsets: Int32Array; episodeSteps: Int32Array } {
  const numEpisodes = batch.offsets.length - 1;
  const numTurns = Array.from({ length: numEpisodes }, (_, e) => turns.filter(([row]) => row === e).length);
  return {
    stepOffsets: toOffsets(turns.map(([, first, end]) => end - first)),
    episodeSteps: toOffsets(numTurns),
  };
}

describe('policy losses agree with the peer', () => {
  it.each(
    peers.policyLosses.map(
      (golden) => [golden.peer, golden.loss, golden.batch, golden.options, golden] as const,
    ),
  )('%s: %s on %s with %j', (_peer, loss, name, options, golden) => {
    const batch = goldenBatch(name);
    const advantages =
      golden.advantages === 'token' ? batch.column('advantages') : batch.sequenceColumn('advantages');
    const terms = computePolicyLoss(loss, { ...lossInput(batch), advantages }, options);
    close([terms.loss], [golden.value]);
    close(terms.gradients, golden.gradients);
  });

  it.each(peers.m2po.map((golden) => [golden.batch, golden.threshold, golden] as const))(
    'AReaL: m2po keeps the same tokens on %s with threshold %d',
    (name, threshold, golden) => {
      const options = resolvePolicyLossOptions(getPolicyLoss('m2po'), { form: 'proximal', threshold });
      const dropped = selectLossTokens('m2po', lossInput(goldenBatch(name)), options);
      expect(Array.from(dropped ?? [], (bit) => 1 - bit)).toEqual(golden.kept);
    },
  );
});

describe('rollout correction agrees with the peer', () => {
  it.each(
    peers.rejections.map(
      (golden) => [golden.peer, golden.batch, golden.rules, golden.vetoBelow, golden] as const,
    ),
  )('%s: rejection on %s with %j and a veto below %s', (_peer, name, rules, vetoBelow, golden) => {
    const batch = goldenBatch(name);
    const input = {
      offsets: batch.offsets,
      proximalLogprobs: batch.column('proximal'),
      behaviorLogprobs: batch.column('behavior'),
    };
    expect([...rejectTokens(input, { rules, vetoBelow }).keep]).toEqual(golden.keep);
  });

  it.each(peers.proximal.map((golden) => [golden.batch, golden.policyVersionIn, golden] as const))(
    'AReaL: the interpolated proximal policy on %s from version %d',
    (name, policyVersionIn, golden) => {
      const batch = goldenBatch(name);
      const shares = proximalShares(Int32Array.from(golden.versions), policyVersionIn);
      const [behavior, current] = [batch.column('behavior'), batch.column('logprobs')];
      close(
        behavior.map((logprob, t) => logprob + shares[t] * (current[t] - logprob)),
        golden.logprobs,
      );
    },
  );
});

describe('advantages agree with the peer', () => {
  it.each(peers.maxRl.map((golden) => [golden.batch, golden] as const))(
    'maxrl: groups of two and more on %s',
    (name, golden) => {
      const batch = goldenBatch(name);
      const { groupIds, offsets } = batch;
      const { advantages } = maxRl({ returns: Float32Array.from(golden.returns), groupIds });
      const sizeOf = (e: number) => groupIds.filter((group) => group === groupIds[e]).length;
      let numCompared = 0;
      advantages.forEach((advantage, e) => {
        // A group of one has no signal here; there its return is divided by 1e-6.
        if (sizeOf(e) === 1 || offsets[e] === offsets[e + 1]) return;
        close([advantage], [golden.advantages[offsets[e]]]);
        numCompared += 1;
      });
      expect(numCompared).toBeGreaterThan(5);
    },
  );

  it.each(peers.gigpo.map((golden) => [golden.batch, golden.options, golden] as const))(
    'verl-agent: gigpo on %s with %j',
    (name, options, { turns, anchors, stepAdvantages }) => {
      const batch = goldenBatch(name);
      const layout = stepLayout(batch, turns);
      const rewards = batch.column('dense_rewards');
      const input = { ...layout, rewards, groupIds: batch.groupIds, anchors: Int32Array.from(anchors) };
      const { advantages } = gigpo(input, options);
      const ofToken = turns.flatMap(([, first, end], step) =>
        Array<number>(end - first).fill(stepAdvantages[step]),
      );
      close(advantages, ofToken);
    },
  );

  it.each(peers.biLevelGae.map((golden) => [golden.batch, golden.options, golden] as const))(
    'RAGEN: biLevelGae on %s with %j',
    (name, options, golden) => {
      const batch = goldenBatch(name);
      const layout = stepLayout(batch, golden.turns);
      const { advantages, returns } = biLevelGae({
        ...layout,
        ...options,
        rewards: batch.column('dense_rewards'),
        values: batch.column('values'),
        truncated: null,
        finalValues: batch.finalValues,
      });
      close(advantages, golden.advantages);
      close(returns, golden.returns);
    },
  );

  const traceInput = (batch: GoldenBatch) => ({
    offsets: batch.offsets,
    rewards: batch.column('dense_rewards'),
    proximalLogprobs: batch.column('proximal'),
    behaviorLogprobs: batch.column('behavior'),
    truncated: batch.truncated,
    finalValues: batch.finalValues,
  });

  it.each(peers.vtrace.map((golden) => [golden.peer, golden.batch, golden.options, golden] as const))(
    '%s: vtrace on %s with %j',
    (_peer, name, options, golden) => {
      const batch = goldenBatch(name);
      const { advantages, returns } = vtrace({
        ...traceInput(batch),
        ...options,
        values: batch.column('values'),
      });
      // With λ < 1 rlax's policy gradient mixes V into the next target; ours is the paper's, whose λ is in the traces only.
      if (golden.peer === 'torchrl' || options.lambda === 1) close(advantages, golden.advantages);
      close(returns, golden.returns);
    },
  );

  it.each(peers.retrace.map((golden) => [golden.batch, golden.options, golden] as const))(
    'rlax: retrace on %s with %j',
    (name, options, golden) => {
      const batch = goldenBatch(name);
      const [qValues, expectedQValues] = [batch.column('values'), batch.column('reference')];
      const { advantages, returns } = retrace({ ...traceInput(batch), ...options, qValues, expectedQValues });
      close(returns, golden.returns);
      close(
        advantages,
        golden.returns.map((target, t) => target - expectedQValues[t]),
      );
    },
  );

  it.each(peers.rae.map((golden) => [golden.decay, golden] as const))(
    'SPIRAL: rae with decay %d, an episode a batch',
    (decay, golden) => {
      let baselines = new Float64Array(golden.baselines.length);
      const advantages = golden.returns.map((value, i) => {
        const roleIds = Int32Array.of(golden.roleIds[i]);
        const result = rae({ returns: Float64Array.of(value), roleIds, baselines, decay });
        baselines = Float64Array.from(result.baselines);
        return result.advantages[0];
      });
      close(advantages, golden.advantages);
      close(baselines, golden.baselines);
    },
  );
});

describe('off-policy evaluation agrees with scope-rl', () => {
  it.each(
    peers.offPolicyEvaluation.flatMap((golden) => [
      [golden.gamma, 'of one episode', null, golden] as const,
      [golden.gamma, 'of several', Int32Array.of(0, 0, 1, 1, 1, 2, 3, 3), golden] as const,
    ]),
  )('with a discount of %d and groups %s', (gamma, _groups, groupIds, golden) => {
    const numEpisodes = golden.rewards.length / golden.numSteps;
    const evaluation = evaluateOffPolicy(
      {
        offsets: toOffsets(Array<number>(numEpisodes).fill(golden.numSteps)),
        rewards: Float32Array.from(golden.rewards),
        groupIds,
        candidateLogprobs: Float32Array.from(golden.candidateProbabilities, Math.log),
        behaviorLogprobs: Float32Array.from(golden.behaviorProbabilities, Math.log),
        qValues: Float32Array.from(golden.qValues),
        stateValues: Float32Array.from(golden.stateValues),
      },
      {
        estimators: OFF_POLICY_ESTIMATORS,
        gamma,
        minEffectiveEpisodes: 1,
        meanWeightTolerance: 100,
        bootstrap: { level: 0.95, numResamples: 10, seed: 1 },
      },
    );
    if (evaluation.kind === 'refused') throw new Error(evaluation.reason);
    const values = Object.fromEntries(evaluation.estimates.map(({ estimator, value }) => [estimator, value]));
    close(
      OFF_POLICY_ESTIMATORS.map((name) => values[name]),
      OFF_POLICY_ESTIMATORS.map((name) => golden.values[name]),
    );
  });
});
