import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { resolveRecipe, type Recipe } from '@retrace/config';
import { CheckpointFiles, LORA_TARGETS } from '@retrace/policy';
import { TinkerEngine } from '@retrace/trainer/tinker';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeUpdateEngine } from '../../apps/trainer/src/engine/update-engine.contract.js';
import { makeDataDirectory } from '../support/cli.mjs';
import { startSkyrl } from '../support/skyrl-server.mjs';

const directory = makeDataDirectory();
const server = await startSkyrl();
const checkpoints = new CheckpointFiles(join(directory.path, 'checkpoints'));
afterAll(async () => {
  if ('stop' in server) await server.stop();
  directory.remove();
});

/** Tokens of `served_model.py`. */
const VOCAB_SIZE = 258;

/** A recipe that the server can train. */
function servedRecipe({ url, model }: { readonly url: string; readonly model: string }): Recipe {
  const lora = JSON.stringify({ rank: 8, alpha: 32, targets: LORA_TARGETS });
  return resolveRecipe('bandit-ppo', {
    assignments: [
      ...[
        'model=null',
        'context.tokenizer=model',
        `policy={"model":"${model}","maxPositions":512,"lora":${lora}}`,
      ],
      ...['loss.valueCoefficient=0', 'loss.entropyCoefficient=0', 'optimizer.maxGradientNorm=1e9'],
      ...[
        'advantage={"estimator":"reinforcePlusPlus","options":{},"shuffle":false}',
        'engine.kind=tinker',
        `engine.url=${url}`,
      ],
    ],
  });
}

describe.skipIf('unavailable' in server)(
  'unavailable' in server ? `skipped, because ${server.unavailable}` : 'with SkyRL',
  () => {
    beforeAll(async () => {
      await openBackend();
    });
    if ('unavailable' in server) return;
    const open = () =>
      TinkerEngine.open({
        recipe: servedRecipe(server),
        checkpoints,
        vocabSize: VOCAB_SIZE,
        tokenizerHash: '',
      });
    describeUpdateEngine('of Tinker', {
      open,
      vocabSize: VOCAB_SIZE,
      isDeterministic: false,
      learningRate: 0.005,
      lacks: ['gradients', 'critic', 'entropy', 'squaredProbabilities', 'movingReference', 'skippedSteps'],
    });
  },
);
