/**
 * Makes a PPO step for each line of standard input, through the trainer's port `UpdateEngine`: Retrace's side of `engines.bench.mjs`. Its
 * argument is the job as JSON; each answer is a line of JSON. `peers/plain_step.py` gives the same answers.
 */
import { createInterface } from 'node:readline';
import { openBackend } from '@retrace/compute';
import { resolveRecipe } from '@retrace/config';
import { CheckpointFiles } from '@retrace/policy';
import { openEngine } from '@retrace/trainer';
import { LOSS, OPTIMIZER, readColumns } from './engine-batch.mjs';

const job = JSON.parse(process.argv[2]);
const answer = (object) => process.stdout.write(`${JSON.stringify(object)}\n`);

await openBackend();
const { learningRate, maxGradientNorm, ...adamW } = OPTIMIZER;
const recipe = resolveRecipe('bandit-ppo', {
  assignments: [
    ...['model=null', 'context.tokenizer=model', `policy=${JSON.stringify(job.policy)}`],
    ...Object.entries({ ...adamW, maxTokensPerMicroBatch: job.maxTokensPerMicroBatch }).map(
      ([name, value]) => `optimizer.${name}=${value}`,
    ),
    ...(job.engine ? [`engine=${JSON.stringify(job.engine)}`] : []),
  ],
});
const checkpoints = new CheckpointFiles(job.directory);
const engine = await openEngine({ recipe, checkpoints, vocabSize: job.vocabSize, tokenizerHash: '' });
const columns = readColumns(job.batch);
const { logprobs } = await engine.evaluate(columns.batch, { temperature: 1, mask: columns.mask });
const batch = { ...columns.batch, proximalLogprobs: logprobs.map((value, n) => value + columns.noise[n]) };
answer({ weights: await checkpoints.locate(await engine.saveWeights()) });

for await (const line of createInterface({ input: process.stdin })) {
  if (line !== 'step') break;
  const start = performance.now();
  const { loss } = await engine.accumulate(batch, LOSS);
  await engine.step({ learningRate, maxGradientNorm });
  answer({ ms: performance.now() - start, loss });
}
await engine.close();
answer({ ended: true });
process.exit(0);
