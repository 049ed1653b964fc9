import { openBackend } from '@retrace/compute';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectLearnsAsLocal, expectMarksVersions } from '../support/served-learning.js';
import { ServedTraining } from '../support/served-training.js';
import { startSglang } from '../support/sglang-server.mjs';

const started = await startSglang();
const reason = 'unavailable' in started ? ` (skipped, because ${started.unavailable})` : '';

describe.skipIf(reason !== '')(`training all weights of a running SGLang${reason}`, () => {
  const { url, model } = 'url' in started ? started : { url: '', model: '' };
  const training = new ServedTraining(model);
  const run = { endpoint: { kind: 'sglang' as const, url }, adapters: false, numUpdates: 8 };

  beforeAll(async () => {
    await openBackend({});
  });
  afterAll(async () => {
    if ('stop' in started) await started.stop();
    await training.removeAll();
  });

  it('stores logprobs that Retrace computes again, and learns as with local sampling', async ({ task }) => {
    // The server has one set of weights, so one run at a time trains through it.
    const alone = { engine: 'sglang 0.5.23', trainsTogether: false };
    task.meta.figures = await expectLearnsAsLocal(training, { ...run, ...alone });
  }, 1_800_000);

  it('marks each token with the version that sampled it where weights change under turns', async ({
    task,
  }) => {
    const { dataDirectory, figures } = await expectMarksVersions(training, run);
    const [{ turns }] = await training.sql<{ turns: string }>(
      dataDirectory,
      'SELECT countIf(length(arrayDistinct(arrayFilter((v, m) -> m = 1, token_policy_versions, action_mask))) > 1) AS turns FROM steps',
    );
    task.meta.figures = [
      ...figures,
      { name: 'turns whose tokens are of two versions', value: Number(turns) },
    ];
  }, 900_000);
});
