import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../apps/api/src/testing/api-fixture.js';
import { RunRecorder } from '../../apps/api/src/testing/run-recorder.js';
import { placeOf, readBlocks } from './blocks.mjs';

let fixture: ApiFixture;

beforeAll(async () => {
  fixture = await ApiFixture.start();
  const run = new RunRecorder(fixture.log);
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

  it.each(queries)('$place runs as it is printed', async ({ query }) => {
    const response = await fixture.post('/api/sql', { query });
    expect(await response.json()).toHaveProperty('columns');
  });
});
