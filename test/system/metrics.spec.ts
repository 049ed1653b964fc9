import { readFile } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@retrace/process/free-port';
import { afterEach, describe, expect, it } from 'vitest';
import { DataDirectories, runRetrace, startRetrace } from '../support/cli.mjs';

const NUM_UPDATES = 12;
const SMALL = [
  // Each process serves metrics of its own.
  'process.colocate=false',
  ...['collection.groupsPerRound=16', 'collection.groupSize=4', 'evaluation.everyUpdates=4'],
  // The test takes seconds, so that the run is still there after its first validation.
  ...['evaluation.numValidationEpisodes=4', 'evaluation.numTestEpisodes=3000'],
].flatMap((assignment) => ['--set', assignment]);

describe('metrics of a run', () => {
  const data = new DataDirectories();
  afterEach(() => {
    data.removeAll();
  });

  it('are served to Prometheus while it runs, and are in both files once each, after it was killed and resumed', async () => {
    const directory = data.make();
    const [file, tensorboard] = [join(directory, 'metrics.jsonl'), join(directory, 'tensorboard')];
    // Collector and validator have the next two ports, which are as likely to be free.
    const port = await findFreePort();
    const train = [
      ...[
        'train',
        '--recipe',
        'bandit-ppo',
        '--updates',
        `${NUM_UPDATES}`,
        '--data-dir',
        directory,
        ...SMALL,
      ],
      ...['--metrics-file', file, '--tensorboard', tensorboard, '--metrics-port', `${port}`],
      ...['--nice', '4'],
    ];
    const session = startRetrace(train);
    await session.waitFor(new RegExp(`update 3 of ${NUM_UPDATES}, .* left`), 300_000);
    const { trainer, collector, validator } = session.roles();
    const behind = (steps: number) => Math.min(getPriority() + steps, 19);
    expect([trainer, collector, validator].map((pid) => getPriority(pid))).toEqual([4, 4, 13].map(behind));
    const scrape = async (at: number) => (await fetch(`http://127.0.0.1:${at}/metrics`)).text();
    expect(await scrape(port)).toMatch(
      /retrace_run_metric\{name="train\/loss",source="trainer",run="[^"]+",role="trainer"\} /,
    );
    expect(await scrape(port + 1)).toMatch(/retrace_collector_episodes_total\{[^}]*role="collector"\} \d/);
    await session.waitFor(/policy 0 · validation/, 300_000);
    const validated = await scrape(port + 2);
    const labels = '[^}]*role="validator"';
    expect(validated).toMatch(
      new RegExp(`retrace_validator_versions_total\\{split="validation",${labels}\\} [1-9]`),
    );
    expect(validated).toMatch(
      new RegExp(`retrace_validator_seconds_total\\{split="validation",${labels}\\} [\\d.]+`),
    );
    // Due are versions 0, 4, 8 and 12, of which one at least is validated.
    expect(validated).toMatch(new RegExp(`retrace_validator_waiting_versions\\{${labels}\\} [0-3]\n`));
    expect(validated).toMatch(
      new RegExp(`retrace_run_metric\\{name="validation/success",source="evaluation",${labels}\\} `),
    );
    session.child.kill('SIGKILL');
    await session.ended;

    const { code, stderr } = await runRetrace(train);
    expect(code, stderr).toBe(0);
    const lines = (await readFile(file, 'utf8')).trim().split('\n');
    const places = lines.map((line) => {
      const { kind, step } = JSON.parse(line) as { kind: string; step: number };
      return `${kind} ${step}`;
    });
    const updates = Array.from({ length: NUM_UPDATES }, (_, n) => `update ${n + 1}`);
    expect(places.filter((place) => place.startsWith('update'))).toEqual(updates);
    expect(places.filter((place) => !place.startsWith('update'))).toEqual([
      ...['validation 0', 'validation 4', 'validation 8', 'validation 12', 'test 12'],
    ]);
    const [run] = readdirSync(tensorboard);
    expect(run).toMatch(/^bandit-ppo-[0-9a-f]{8}$/);
    expect(readdirSync(join(tensorboard, run))).toHaveLength(1);
  }, 600_000);
});
