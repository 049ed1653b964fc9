import { describe, expect, it } from 'vitest';
import { topKKl, type DistillationObjective } from '../index.js';
import { readGolden } from '../testing/golden.js';

interface Golden {
  readonly relativeTolerance: number;
  readonly cases: readonly {
    readonly objective: DistillationObjective;
    readonly topK: number;
    readonly ids: number[][];
    /** Of the whole vocabulary. */
    readonly logprobs: number[][];
    readonly teacherLogprobs: number[][];
    readonly values: number[];
    readonly logitGradients: number[][];
  }[];
}

const golden = readGolden('top-k-kl.json') as Golden;

describe('KL over the likeliest tokens of a teacher and one bucket', () => {
  it.each(golden.cases.map((c) => [c.objective, c.topK, c] as const))(
    '%s, k = %i: has the values and the gradient by logits of torch autograd',
    (objective, topK, { ids, logprobs, teacherLogprobs, values, logitGradients }) => {
      const chosen = ids.flatMap((row, m) => row.map((id) => logprobs[m][id]));
      const kl = topKKl(Float32Array.from(chosen), Float32Array.from(teacherLogprobs.flat()), {
        ...{ objective, topK },
      });
      values.forEach((value, m) => {
        expect(Math.abs(kl.values[m] - value)).toBeLessThan(golden.relativeTolerance);
        const byId = new Map(ids[m].map((id, i) => [id, kl.gradients[m * topK + i]]));
        const sum = [...byId.values()].reduce((total, gradient) => total + gradient, 0);
        logprobs[m].forEach((logprob, id) => {
          const byLogit = (byId.get(id) ?? 0) - Math.exp(logprob) * sum;
          expect(Math.abs(byLogit - logitGradients[m][id])).toBeLessThan(golden.relativeTolerance);
        });
      });
    },
  );

  it('stays finite where a policy gives the bucket no probability: forward 0.5 (ln 0.5 − ln 1) + 0.5 (ln 0.5 − ln 1e-5)', () => {
    const kl = topKKl(Float32Array.of(0), Float32Array.of(Math.log(0.5)), {
      ...{ objective: 'forwardKl', topK: 1 },
    });
    expect(kl.values[0]).toBeCloseTo(0.5 * Math.log(0.5) + 0.5 * Math.log(0.5 / 1e-5), 5);
    expect(kl.gradients[0]).toBeCloseTo(0.5 / 1e-5 - 0.5, 0);
    const none = topKKl(new Float32Array(0), new Float32Array(0), { objective: 'reverseKl', topK: 4 });
    expect(none.values).toHaveLength(0);
  });
});
