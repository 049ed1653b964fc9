import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveRecipe } from '@retrace/config';
import { readControlState, type EventLog } from '@retrace/log';
import { openLmdbLog } from '@retrace/log/lmdb';
import { appendEvents } from '@retrace/log/testing';
import { newRunId, type Baseline } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasBaselines, recordBaselines, type MeasuredBaselines } from './record-baselines.js';

describe('recordBaselines', () => {
  let directory: string;
  let log: EventLog;
  let notices: string[];
  let numMeasured: number;
  const runId = newRunId();
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-baselines-'));
    log = await openLmdbLog({ path: directory, createdBy: 'test' });
    notices = [];
    numMeasured = 0;
    await appendEvents(log, [controlEvent({ logId: log.logId, runId }, 'RunStarted', { baselines: [] })]);
  });
  afterEach(async () => {
    await log.close();
    rmSync(directory, { recursive: true });
  });

  const baseline = (name: string, success: number): Baseline => ({
    ...{ name, success },
    ...{ numEpisodes: 10, split: 'validation' },
  });
  const run = async () => {
    const found = (await readControlState(log)).run(runId);
    if (!found) throw new Error('the run is missing');
    return found;
  };
  const record = async (
    measured: () => Promise<MeasuredBaselines>,
    { recipe = resolveRecipe('bandit-ppo'), signal = new AbortController().signal } = {},
  ) => {
    const measure = () => {
      numMeasured += 1;
      return measured();
    };
    const onNotice = (line: string) => notices.push(line);
    await recordBaselines({ ...{ log, recipe, measure, signal, onNotice }, run: await run() });
    return (await run()).hasBaselines;
  };
  const found = { baselines: [baseline('random', 0.2), baseline('expert', 1)], missing: null };

  it('appends what was measured once, the best first', async () => {
    expect(await record(() => Promise.resolve(found))).toBe(true);
    await record(() => Promise.resolve(found));
    expect(numMeasured).toBe(1);
    const records = await log.read('control', 0, 0);
    expect(Buffer.from(records.at(-1)?.bytes ?? []).toString('latin1')).toMatch(/expert.*random/s);
    expect(notices).toEqual([]);
  });

  it('says which are missing, and that none were recorded where they can’t be measured', async () => {
    await record(() => Promise.reject(new Error('no such module')));
    expect(await record(() => Promise.resolve({ ...found, missing: 'it ended with exit code 1' }))).toBe(
      true,
    );
    expect(notices).toEqual([
      'baselines: none recorded: no such module',
      'baselines: 2 measured, then it ended with exit code 1; the run goes on without the others',
    ]);
  });

  it('records nothing once it is to end', async () => {
    const ending = new AbortController();
    const measured = () => {
      ending.abort();
      return Promise.resolve(found);
    };
    expect(await record(measured, { signal: ending.signal })).toBe(false);
  });

  it('measures nothing where a server has the environment, which knows no baselines', async () => {
    const server = { protocol: 'retrace', urls: ['http://127.0.0.1:1'] };
    const assignments = [`environment.server=${JSON.stringify(server)}`];
    const recipe = resolveRecipe('textcraft-gigpo', { assignments });
    expect(await record(() => Promise.resolve(found), { recipe })).toBe(false);
    expect(numMeasured).toBe(0);
  });

  it('measures nothing for a run on stored data that no policy plays in', async () => {
    const data = { sources: [{ from: 'query', query: 'SELECT episode_id FROM episodes' }] };
    const stored = [`data=${JSON.stringify(data)}`, 'imitation=null', 'evaluation.numTestEpisodes=0'];
    const validated = resolveRecipe('frozen-lake-grpo', { assignments: stored });
    const recipe = resolveRecipe('frozen-lake-grpo', {
      assignments: [...stored, 'evaluation.everyUpdates=0'],
    });
    expect([validated, recipe].map(hasBaselines)).toEqual([true, false]);
    expect(await record(() => Promise.resolve(found), { recipe })).toBe(false);
    expect(numMeasured).toBe(0);
  });
});
