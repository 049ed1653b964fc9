/**
 * The likeliest tokens of a step's logits.
 *
 * Legend: B samples · V vocabulary · K tokens reported.
 */
import * as tf from '@retrace/compute/tensorflow';
import { logSoftmax } from '@retrace/compute';
import { scaledAndCut, type BatchSampling } from './sampling.js';
import type { LikelyToken } from './turn.js';

interface Group {
  readonly ids_BK: tf.Tensor;
  readonly logprobs_BK: tf.Tensor;
  readonly counts: readonly number[];
}

/** A group of samples; one that reports nothing has counts only. */
type AddedGroup = Group | { readonly counts: readonly number[] };

/** Gathers the likeliest tokens of the groups of one step, in the order of their samples. */
export class LikeliestTokens {
  private readonly groups: AddedGroup[] = [];

  /** @param afterTemperature whether logprobs are of the distribution that is sampled from, else of the model's own */
  constructor(private readonly afterTemperature: boolean) {}

  /** @param counts [B] how many tokens each sample reports; a group of zeros costs nothing */
  add(logits_RV: tf.Tensor, parameters: BatchSampling, counts: readonly number[]): void {
    const most = Math.max(...counts);
    if (most === 0) {
      this.groups.push({ counts });
      return;
    }
    const [ids_BK, logprobs_BK] = tf.tidy(() => {
      const logits_BV = tf.gather(logits_RV, tf.tensor1d(parameters.rows, 'int32'));
      const { values, indices } = tf.topk(
        logSoftmax(this.afterTemperature ? scaledAndCut(logits_BV, parameters) : logits_BV),
        most,
        true,
      );
      return [indices, values];
    });
    this.groups.push({ ids_BK: tf.keep(ids_BK), logprobs_BK: tf.keep(logprobs_BK), counts });
  }

  /** Reads all groups back and frees them: one list for each sample, likeliest first. */
  async read(): Promise<(readonly LikelyToken[])[]> {
    const lists = await Promise.all(this.groups.map(readGroup));
    return lists.flat();
  }
}

async function readGroup(group: AddedGroup): Promise<(readonly LikelyToken[])[]> {
  if (!('ids_BK' in group)) return group.counts.map(() => []);
  const { ids_BK, logprobs_BK, counts } = group;
  const [ids, logprobs] = await Promise.all([ids_BK.data(), logprobs_BK.data()]);
  const most = ids_BK.shape[1] as number;
  tf.dispose([ids_BK, logprobs_BK]);
  return counts.map((count, row) =>
    Array.from({ length: count }, (_, k) => ({
      tokenId: ids[row * most + k],
      logprob: logprobs[row * most + k],
    })),
  );
}
