import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeByteModel } from '../support/byte-model.js';
import { root } from '../support/cli.mjs';
import { ServedTraining } from '../support/served-training.js';

const NUM_UPDATES = 4;
const SERVE = [
  ...[process.execPath, join(root, 'apps', 'cli', 'bin', 'retrace.mjs'), 'serve', '--port', '{port}'],
  ...['--model', '{model}', '--name', '{name}', '--logprobs-mode', 'processed_logprobs'],
];

describe('a run whose turns retrace serve samples', () => {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-trained-through-serve-'));
  const training = new ServedTraining(directory);

  beforeAll(async () => {
    await openBackend({});
    await writeByteModel(directory);
  });
  afterAll(async () => {
    await training.removeAll();
    rmSync(directory, { recursive: true });
  });

  it('starts a server for each version, and stores logprobs that the version of each token gives again', async () => {
    const run = {
      adapters: false,
      maxStaleness: 0,
      concurrentEpisodes: 16,
      seed: 1,
      numUpdates: NUM_UPDATES,
    };
    const data = await training.train({ ...run, endpoint: { kind: 'vllm', command: SERVE } });
    const { largest, counts, asNeighbour } = await training.checkTokens(data);
    expect([...counts.keys()]).toEqual([0, 1, 2, 3]);
    expect(largest).toBeLessThan(1e-4);
    expect(asNeighbour).toBeGreaterThan(1e-3);
    const [{ untrainable }] = await training.sql<{ untrainable: string }>(
      data,
      "SELECT countIf(untrainable != '') AS untrainable FROM steps",
    );
    expect(Number(untrainable)).toBe(0);
  }, 300_000);
});
