import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBackend } from '@retrace/compute';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeByteModel } from '../support/byte-model.mjs';
import { DataDirectories, root, runRetrace, startRetrace } from '../support/cli.mjs';
import { ServedTraining } from '../support/served-training.js';

/*
 * Monitors whose faults are in the services around a run: each is proved by a run of the whole command on services that really have the fault.
 * Faults of the data and of training itself are in `monitors.spec.ts`.
 */

/** Factor of the temperature: a ratio is then off 1 by some 7e-5, over the 5e-5 of the monitor and under the 1e-4 that ends a run. */
const HEAT = 1.000025;

interface WarningRow {
  readonly severity: string;
  readonly message: string;
  readonly advice: string;
}

describe('a run whose model server samples at another temperature than it was asked for', () => {
  const model = mkdtempSync(join(tmpdir(), 'retrace-heated-model-'));
  const training = new ServedTraining(model);
  const serve = (heat: number) => [
    ...[process.execPath, join(root, 'test', 'support', 'temperature-gateway.mjs'), '{port}', `${heat}`],
    ...[process.execPath, join(root, 'apps', 'cli', 'bin', 'retrace.mjs'), 'serve', '--port', '{ownPort}'],
    ...['--model', '{model}', '--name', '{name}', '--logprobs-mode', 'processed_logprobs'],
  ];

  beforeAll(async () => {
    await openBackend({});
    await writeByteModel(model);
  });
  afterAll(async () => {
    await training.removeAll();
    rmSync(model, { recursive: true });
  });

  async function trainAt(heat: number) {
    const data = await training.train({
      ...{ adapters: false, maxStaleness: 0, concurrentEpisodes: 16, seed: 1, numUpdates: 1 },
      endpoint: { kind: 'vllm', command: serve(heat) },
    });
    const warnings = await training.sql<WarningRow>(
      data,
      "SELECT severity, message, advice FROM warnings WHERE rule = 'ratioDrift'",
    );
    const [{ deviation }] = await training.sql<{ deviation: number }>(
      data,
      "SELECT value AS deviation FROM metrics WHERE name = 'train/ratioMaxDeviation'",
    );
    return { warnings, deviation };
  }

  it('raises ratioDrift, and none where the gateway keeps the temperature', async () => {
    const heated = await trainAt(HEAT);
    expect(heated.deviation).toBeGreaterThan(5e-5);
    expect(heated.warnings).toEqual([
      {
        severity: 'warning',
        message: expect.stringContaining('the ratio of fresh tokens is off 1 by up to') as string,
        advice: expect.stringContaining('temperature') as string,
      },
    ]);
    const kept = await trainAt(1);
    expect(kept.warnings).toEqual([]);
    expect(kept.deviation).toBeLessThan(heated.deviation / 4);
  }, 600_000);
});

describe('a run whose store is slow', () => {
  const data = new DataDirectories();
  afterAll(() => {
    data.removeAll();
  });

  it('raises slowStore while the process of its store is stopped most of the time', async () => {
    const SMALL = [
      ...['collection.groupsPerRound=32', 'optimizer.epochs=1', 'model.numLayers=1', 'model.hiddenSize=16'],
      ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0'],
    ].flatMap((assignment) => ['--set', assignment]);
    const common = ['--data-dir', data.make(), ...SMALL];
    const collected = await runRetrace(['train', '--recipe', 'bandit-ppo', '--updates', '3', ...common]);
    expect(collected.code, collected.stderr).toBe(0);
    // Fresh rounds are read from the log, stored ones from the store.
    const session = startRetrace(['train', '--from-run', 'latest', '--updates', '1000', ...common]);
    const ended = new AbortController();
    try {
      await session.waitFor(/update 3 of/, 300_000);
      const warned = session.waitFor(/reading the batch took .* times as long as its update/, 300_000);
      const stopping = stopMostOfTheTime(session.roles().store, ended.signal);
      await warned;
      ended.abort();
      await stopping;
    } finally {
      ended.abort();
      await session.stop('SIGINT');
    }
  }, 900_000);
});

/** Stops a process for 4 s of each 4.1 s, until the signal aborts; leaves it running. */
async function stopMostOfTheTime(pid: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    process.kill(pid, 'SIGSTOP');
    await sleep(4_000, null, { signal }).catch(() => undefined);
    process.kill(pid, 'SIGCONT');
    await sleep(100);
  }
}
