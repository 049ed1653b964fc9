import type { Recipe } from '@retrace/config';
import { readEnvironment } from '@retrace/environment-sources';
import { countParameters, openPolicyText } from '@retrace/policy';
import { countKeptCheckpoints, recipeModelConfig } from '@retrace/trainer';
import { runCheck, type CheckResult } from './check.js';
import { freeBytesAt } from './free-space.js';

interface RecipeDisk {
  readonly numWeights: number;
  readonly numOptimizers: number;
  /** Of one file each. */
  readonly weightsBytes: number;
  readonly optimizerBytes: number;
  readonly totalBytes: number;
}

/** Values are stored as float32; the optimizer has two moments of each that is trained. */
const BYTES_PER_VALUE = 4;
const NUM_MOMENTS = 2;
/** Room for log and store, beside the checkpoints. */
const LEFT_BYTES = 2 ** 30;

/** How many bytes the checkpoint files of a run take at most when it has ended, apart from their headers of a few KiB. */
export async function estimateRecipeDisk(recipe: Recipe): Promise<RecipeDisk> {
  const { tokenizer } = await openPolicyText({
    tokenizer: recipe.context.tokenizer,
    words: (await readEnvironment(recipe.environment)).words,
    directory: recipe.policy?.model,
  });
  const { numTrained } = countParameters(await recipeModelConfig(recipe, tokenizer.vocabSize));
  const { numWeights, numOptimizers } = countKeptCheckpoints(recipe);
  const weightsBytes = numTrained * BYTES_PER_VALUE;
  const optimizerBytes = weightsBytes * NUM_MOMENTS;
  const totalBytes = numWeights * weightsBytes + numOptimizers * optimizerBytes;
  return { numWeights, numOptimizers, weightsBytes, optimizerBytes, totalBytes };
}

/** Checks whether the checkpoints of the recipe's run fit on the disk of the data directory. */
export function checkRecipeDisk(recipe: Recipe, dataDir: string): Promise<CheckResult> {
  return runCheck(`${recipe.name} on disk`, async () => {
    const { numWeights, numOptimizers, weightsBytes, optimizerBytes, totalBytes } =
      await estimateRecipeDisk(recipe);
    const freeBytes = await freeBytesAt(dataDir);
    const detail =
      `checkpoints take ${megabytes(totalBytes)} MB at the end (weights of ${numWeights} versions, ${megabytes(weightsBytes)} MB each; ` +
      `${numOptimizers} optimizer states, ${megabytes(optimizerBytes)} MB each); episodes come on top`;
    if (totalBytes + LEFT_BYTES <= freeBytes) return { verdict: 'ok', detail };
    const advice =
      'free some space, or keep fewer with checkpoint.weights, checkpoint.keepLast and checkpoint.keepEvery';
    return { verdict: 'warn', detail: `${detail}; ${megabytes(freeBytes)} MB are free: ${advice}` };
  });
}

function megabytes(bytes: number): string {
  const value = bytes / 1e6;
  return value >= 100 ? Math.round(value).toLocaleString('en') : `${Number(value.toPrecision(3))}`;
}
