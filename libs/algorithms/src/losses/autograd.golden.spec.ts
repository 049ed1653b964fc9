import { describe, expect, it } from 'vitest';
import { aggregationWeights, computePolicyLoss, countForAggregation, listPolicyLosses } from '../index.js';
import { expectClose } from '../testing/expect-close.js';
import { goldenBatch, readGolden } from '../testing/golden.js';

interface Golden {
  readonly relativeTolerance: number;
  readonly policyLosses: readonly {
    readonly loss: string;
    readonly batch: string;
    readonly options: Record<string, unknown>;
    readonly value: number;
    readonly gradients: number[];
  }[];
}

const golden = readGolden('autograd-losses.json') as Golden;
const verl = readGolden('losses.json') as Golden;
const peers = readGolden('peers.json') as Golden;
const trl = readGolden('trl.json') as { readonly losses: Golden['policyLosses'] };

describe('losses that verl lacks: agree with their formulas under torch autograd', () => {
  it('every loss of the registry has golden values', () => {
    const others = [...verl.policyLosses, ...peers.policyLosses, ...trl.losses];
    const covered = new Set([...golden.policyLosses, ...others].map(({ loss }) => loss));
    expect([...covered].sort()).toEqual(listPolicyLosses());
  });

  it.each(golden.policyLosses.map((c) => [c.loss, c.batch, c.options, c] as const))(
    '%s on %s with %j',
    (loss, name, options, expected) => {
      const batch = goldenBatch(name);
      const counts = countForAggregation({ offsets: batch.offsets });
      const terms = computePolicyLoss(
        loss,
        {
          offsets: batch.offsets,
          logprobs: batch.column('logprobs'),
          proximalLogprobs: batch.column('proximal'),
          behaviorLogprobs: batch.column('behavior'),
          advantages: batch.column('advantages'),
          weights: aggregationWeights({ offsets: batch.offsets }, { aggregation: 'tokenMean', counts }),
        },
        options,
      );
      expectClose([terms.loss], [expected.value], golden.relativeTolerance);
      expectClose(terms.gradients, expected.gradients, golden.relativeTolerance);
    },
  );
});
