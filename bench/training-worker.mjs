/**
 * Makes a training step for each line of standard input: Retrace's side of `policy-training.bench.mjs`. Its argument is the job as
 * JSON; each answer is a line of JSON. `peers/torch_training.py` gives the same answers.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { loadHuggingFaceModel, PolicyOptimizer } from '@retrace/policy';
import { openBackend } from '@retrace/compute';

const LEARNING_RATE = 1e-4;

const job = JSON.parse(process.argv[2]);
const answer = (object) => process.stdout.write(`${JSON.stringify(object)}\n`);

const { reason } = await openBackend({
  prefer: [job.backend],
  matMulPrecision: job.matMulPrecision ?? 'float32',
});
const model = await loadHuggingFaceModel(job.directory, { valueHead: false, maxPositions: 512, seed: 1 });
const optimizer = new PolicyOptimizer(model, {
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  weightDecay: 0.01,
});
const batch = readBatch(join(job.directory, `${job.batch}.json`));
const options = {
  policyLoss: job.loss,
  policyLossOptions: job.loss === 'ppo' ? { clipLow: 0.2, clipHigh: 0.2, dualClip: null } : {},
  valueCoefficient: 0,
  valueClip: null,
  entropyCoefficient: job.loss === 'ppo' ? 0.01 : 0,
  klCoefficient: 0,
  klEstimator: 'k3',
  temperature: 1,
  maxTokensPerMicroBatch: job.maxTokensPerMicroBatch ?? 8 * 512,
  ...job.options,
};
answer({ reason, numParameters: model.numParameters });

for await (const line of createInterface({ input: process.stdin })) {
  if (line !== 'step') break;
  const start = performance.now();
  const { loss } = await optimizer.accumulate(batch, options);
  await optimizer.apply({ learningRate: LEARNING_RATE, maxGradientNorm: 1 });
  answer({ ms: performance.now() - start, loss });
}
answer({ peakMiB: Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024 });
process.exit(0);

/** Builds the batch; for a `padded` job all sequences are as long as the longest, and the loss is computed for every token, as in padded code. */
function readBatch(file) {
  const { sequences } = JSON.parse(readFileSync(file, 'utf8'));
  const longest = Math.max(...sequences.map(({ tokenIds }) => tokenIds.length));
  const padded = (column) =>
    job.padded ? [...column, ...new Array(longest - column.length).fill(0)] : column;
  const sequenceOffsets = Int32Array.from([0, ...sequences.map(({ tokenIds }) => padded(tokenIds).length)]);
  for (let s = 1; s < sequenceOffsets.length; s++) sequenceOffsets[s] += sequenceOffsets[s - 1];
  const column = (name) => Float32Array.from(sequences.flatMap((sequence) => padded(sequence[name])));
  const numTrained = sequences.reduce((sum, { tokenIds }) => sum + tokenIds.length - 1, 0);
  // A padded token's loss is computed, but has weight 0.
  const weights = sequences.flatMap(({ tokenIds }) =>
    padded(tokenIds).map((_, t) => (t === 0 ? 0 : t < tokenIds.length ? 1 / numTrained : 1e-30)),
  );
  return {
    tokenIds: Int32Array.from(sequences.flatMap(({ tokenIds }) => padded(tokenIds))),
    sequenceOffsets,
    lossWeights: Float32Array.from(weights),
    advantages: column('advantages'),
    proximalLogprobs: column('proximalLogprobs'),
    referenceLogprobs: null,
    returns: null,
    proximalValues: null,
  };
}
