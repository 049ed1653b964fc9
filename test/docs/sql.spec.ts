import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../apps/api/src/testing/api-fixture.js';
import { RunRecorder } from '../../apps/api/src/testing/run-recorder.js';
import { EXAMPLE_METRICS, queryOfRun, seriesOfResult } from '../../apps/dashboard/src/metrics/user-metric.js';
import { EXAMPLES } from '../../apps/dashboard/src/sql/examples.js';
import type { SqlResult } from '../../apps/dashboard/src/api-types/schema.js';
import { placeOf, readBlocks } from './blocks.mjs';

let fixture: ApiFixture;
let runId: string;

beforeAll(async () => {
  fixture = await ApiFixture.start();
  const run = new RunRecorder(fixture.log);
  runId = run.runId;
  await run.start();
  await run.round();
  await run.round();
  await fixture.storeHasCaughtUp();
});
afterAll(async () => {
  await fixture?.close();
});

describe('queries of the pages', () => {
  const queries = readBlocks()
    .filter(({ language }) => language === 'sql')
    .flatMap((block) => block.text.split(/;\s*$/m).map((query) => ({ query, place: placeOf(block) })))
    .filter(({ query }) => query.trim() !== '');

  it.each(queries)('$place runs as it is printed, {run} as the id of a run', async ({ query }) => {
    const response = await fixture.post('/api/sql', { query: queryOfRun(query, runId) });
    expect(await response.json()).toHaveProperty('columns');
  });
});

describe('ready-made queries of the page for SQL', () => {
  /** About something that the recorded run has none of. */
  const without = ['Actions that were not understood', 'Parts of the reward, by success', 'Warnings'];

  it.each(EXAMPLES.flatMap(({ queries }) => queries))('$title', async ({ title, query }) => {
    const response = await fixture.post('/api/sql', { query });
    const answer = (await response.json()) as { rows?: readonly unknown[] };
    expect(answer).toHaveProperty('columns');
    if (!without.includes(title)) expect(answer.rows?.length, 'rows').toBeGreaterThan(0);
  });
});

describe('ready-made metrics by SQL', () => {
  // The recorded run keeps no tokens of its updates.
  const without = ['tokens clipped'];

  it.each(EXAMPLE_METRICS)('$name is a series', async (metric) => {
    const response = await fixture.post('/api/sql', { query: queryOfRun(metric.query, runId) });
    const result = (await response.json()) as SqlResult;
    expect(result).toHaveProperty('columns');
    const { steps } = seriesOfResult(metric, result, undefined);
    if (!without.includes(metric.name)) expect(steps.length, 'points').toBeGreaterThan(0);
  });
});
