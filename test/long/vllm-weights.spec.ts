import { openBackend } from '@retrace/compute';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { finalLevel, ServedTraining, showCurve, initialLevel } from '../support/served-training.js';
import { startVllm } from '../support/vllm-server.mjs';

const MAX_DEVIATION = 2e-3;
const NUM_UPDATES = 15;

const started = await startVllm({
  options: [
    ...['--weight-transfer-config', '{"backend": "retrace_files"}', '--generation-config', 'vllm'],
    ...['--logprobs-mode', 'processed_logprobs'],
  ],
  variables: { VLLM_SERVER_DEV_MODE: '1' },
});
const reason = 'unavailable' in started ? ` (skipped, because ${started.unavailable})` : '';

describe.skipIf(reason !== '')(`training all weights of a running vLLM${reason}`, () => {
  const { url, model } = 'url' in started ? started : { url: '', model: '' };
  const training = new ServedTraining(model);

  beforeAll(async () => {
    await openBackend({});
  });
  afterAll(async () => {
    if ('stop' in started) await started.stop();
    await training.removeAll();
  });

  it('replaces all weights by the update API in the middle of rounds, and samples with those that each token names', async ({
    task,
  }) => {
    const dataDirectory = await training.train({
      endpoint: { kind: 'vllm', url },
      adapters: false,
      concurrentEpisodes: 16,
      maxStaleness: 1,
      seed: 1,
      numUpdates: NUM_UPDATES,
    });
    const { largest, counts, asNeighbour } = await training.checkTokens(dataDirectory);
    expect(largest).toBeLessThan(MAX_DEVIATION);
    expect(asNeighbour).toBeGreaterThan(10 * MAX_DEVIATION);
    expect(counts.size).toBeGreaterThan(NUM_UPDATES / 2);
    const curve = await training.rewardsOf(dataDirectory);
    expect(finalLevel(curve)).toBeGreaterThan(initialLevel(curve) + 0.3);
    const { weight_version: version } = (await (await fetch(`${url}/weight_info`)).json()) as {
      weight_version: string;
    };
    expect(version).toMatch(/^retrace-.*-\d+$/);
    expect(await (await fetch(`${url}/is_paused`)).json()).toEqual({ is_paused: false });
    task.meta.figures = [
      { name: 'largest difference of a stored logprob', value: largest, unit: 'nats' },
      { name: 'with the weights of the version before', value: asNeighbour, unit: 'nats' },
      { name: 'reward of every third version', value: showCurve(curve) },
    ];
  }, 900_000);
});
