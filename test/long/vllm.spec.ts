import { openBackend } from '@retrace/compute';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectLearnsAsLocal, expectMarksVersions } from '../support/served-learning.js';
import { ServedTraining } from '../support/served-training.js';
import { startVllm } from '../support/vllm-server.mjs';

const PROCESSED = ['--logprobs-mode', 'processed_logprobs', '--generation-config', 'vllm'];

const started = await startVllm({
  options: ['--enable-lora', '--max-loras', '2', '--max-lora-rank', '8', ...PROCESSED],
  variables: { VLLM_ALLOW_RUNTIME_LORA_UPDATING: '1' },
});
const reason = 'unavailable' in started ? ` (skipped, because ${started.unavailable})` : '';

describe.skipIf(reason !== '')(`training adapters through a real vLLM${reason}`, () => {
  const { url, model } = 'url' in started ? started : { url: '', model: '' };
  const training = new ServedTraining(model);
  const run = { endpoint: { kind: 'vllm' as const, url }, adapters: true, numUpdates: 8 };

  beforeAll(async () => {
    await openBackend({});
  });
  afterAll(async () => {
    if ('stop' in started) await started.stop();
    await training.removeAll();
  });

  it('stores logprobs that Retrace computes again, the version of every token, and learns as with local sampling', async ({
    task,
  }) => {
    // The server mixes the adapters of both runs in its batches.
    const together = { engine: 'vllm 0.32.0', trainsTogether: true };
    task.meta.figures = await expectLearnsAsLocal(training, { ...run, ...together });
  }, 1_800_000);

  it('marks each token with the version that sampled it where adapters arrive in the middle of a round', async ({
    task,
  }) => {
    const { figures } = await expectMarksVersions(training, run);
    task.meta.figures = figures;
  }, 900_000);
});
