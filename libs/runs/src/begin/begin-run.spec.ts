import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { overrideRecipe, parseRecipe, recipeHash, resolveRecipe } from '@retrace/config';
import type { EventLog } from '@retrace/log';
import { ControlTail, readControlState, readRunStart } from '@retrace/log';
import { openLmdbLog } from '@retrace/log/lmdb';
import { appendEvents } from '@retrace/log/testing';
import { CheckpointFiles } from '@retrace/policy';
import { newRunId, type Json } from '@retrace/trajectory';
import { decodeEvent } from '@retrace/trajectory/codec';
import { controlEvent } from '@retrace/trajectory/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { beginRun } from './begin-run.js';

describe('beginRun', () => {
  let directory: string;
  let log: EventLog;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-run-'));
    log = await openLmdbLog({ path: directory, createdBy: 'test' });
  });
  afterEach(async () => {
    await log.close();
    rmSync(directory, { recursive: true });
  });

  const recipe = resolveRecipe('bandit-ppo');
  const checkpoints = () => join(directory, 'checkpoints');
  const readState = () => readControlState(log);
  const begin = (ofRecipe = recipe, requireEngine = () => Promise.resolve()) =>
    beginRun(log, {
      recipe: ofRecipe,
      requireEngine,
      onNotice: () => undefined,
      codeVersion: '1.2.3',
      checkpoints: new CheckpointFiles(checkpoints()),
    });

  it('appends RunStarted with recipe and code version', async () => {
    const { runId, isResumed } = await begin();
    expect(isResumed).toBe(false);
    const started = (await readState()).run(runId)?.started;
    expect(started).toMatchObject({
      name: 'bandit-ppo',
      seed: 1,
      environment: 'bandit',
      codeVersion: '1.2.3',
    });
    expect(started?.recipe).toEqual(JSON.parse(JSON.stringify(recipe)));
  });

  it('remembers where the log was before it has the run, so that recovery looks no further back', async () => {
    await log.append('trajectories', 0, [new Uint8Array(1), new Uint8Array(2)]);
    const { append } = log;
    let rememberedBefore: number | null = null;
    log.append = async (stream, partition, records) => {
      const decoded = decodeEvent(records[0]);
      if (decoded.ok) rememberedBefore = await readRunStart(log, decoded.event.runId, 0);
      return append.call(log, stream, partition, records);
    };
    await begin();
    expect(rememberedBefore).toBe(2);
  });

  it('refuses a recipe whose engine can’t compute here, before the log has a run of it', async () => {
    const refuse = () => Promise.reject(new Error('no Python'));
    await expect(begin(recipe, refuse)).rejects.toThrow('no Python');
    expect((await readState()).runs).toEqual([]);
  });

  it('refuses rewards that nobody can have given yet to a run that collects what it trains on', async () => {
    const assignments = ['reward.components=[{"reward":"assigned","options":{"name":"liked"}}]'];
    await expect(begin(resolveRecipe('bandit-ppo', { assignments }))).rejects.toMatchObject({
      code: 'RECIPE_INVALID',
      message: expect.stringContaining('train with --from-run') as string,
    });
    expect((await readState()).runs).toEqual([]);
  });

  it('resumes the unfinished run of the same recipe, and of no other', async () => {
    const first = await begin();
    expect(await begin()).toMatchObject({ runId: first.runId, isResumed: true });
    const other = await begin(resolveRecipe('bandit-ppo', { seed: 2 }));
    expect(other).toMatchObject({ isResumed: false });
    expect(await begin()).toMatchObject({ runId: first.runId, isResumed: true });
  });

  it('resumes a run that started from another one’s policy with that version, whatever that run has published since', async () => {
    const source = await begin();
    const control = new ControlTail(log);
    const publish = (policyVersion: number) =>
      control.append(source.runId, {
        kind: 'PolicyPublished',
        payload: {
          ...{ policyVersion, parentVersion: policyVersion === 0 ? null : policyVersion - 1 },
          ...{ updateNumber: policyVersion, epoch: 0, modelHash: 'm', location: '' },
          weights: { sha256: `${policyVersion}`.repeat(64), sizeBytes: 1 },
        },
      });
    await control.append(source.runId, { kind: 'TrainerClaimed', payload: { epoch: 0, trainerId: 't' } });
    await publish(0);
    mkdirSync(checkpoints());
    writeFileSync(join(checkpoints(), `${'0'.repeat(64)}.safetensors`), '0');
    const from = resolveRecipe('bandit-ppo', {
      assignments: [`initFrom={"run":"${source.runId}"}`, 'name=next'],
    });
    const first = await begin(from);
    expect(first.recipe.initFrom?.source).toMatchObject({ runId: source.runId, policyVersion: 0 });
    await publish(1);
    const again = await begin(from);
    expect(again).toMatchObject({ runId: first.runId, isResumed: true });
    expect(again.recipe.initFrom?.source?.policyVersion).toBe(0);
  });

  it('does not resume a run that only states the hash of the recipe, as an imported one may', async () => {
    const recipeOf = (fields: object) => JSON.parse(JSON.stringify({ ...recipe, ...fields })) as Json;
    for (const stated of [
      { recipe: recipeOf({ environment: { module: '/tmp/code.mjs' } }) },
      { recipe: recipeOf({ loss: [] }) },
    ]) {
      const ids = { logId: log.logId, runId: newRunId() };
      const fields = { recipeHash: recipeHash(recipe), ...stated };
      await appendEvents(log, [controlEvent(ids, 'RunStarted', fields)]);
    }
    const begun = await begin();
    expect(begun).toMatchObject({ isResumed: false });
    expect(await begin()).toMatchObject({ runId: begun.runId, isResumed: true });
  });

  it('resumes a run that recorded null where its recipe says nothing, when that was part of the hash', async () => {
    const golden = new URL('../../../../test/golden/recipes/with-nulls.json', import.meta.url);
    const old = JSON.parse(readFileSync(golden, 'utf8')) as {
      readonly file: Json;
      readonly recipe: Json;
      readonly recipeHash: string;
    };
    const ids = { logId: log.logId, runId: newRunId() };
    const { recipe: begun, recipeHash: hash } = old;
    await appendEvents(log, [controlEvent(ids, 'RunStarted', { recipe: begun, recipeHash: hash })]);
    const today = parseRecipe(old.file);
    expect(recipeHash(today)).not.toBe(hash);
    expect(await begin(today)).toMatchObject({ runId: ids.runId, isResumed: true });
    expect(await begin(overrideRecipe(today, ['loss.kl.in=reward']))).toMatchObject({ isResumed: false });
  });

  it('starts another run once the last one has ended', async () => {
    const first = await begin();
    const payload = { reason: 'finished' as const, detail: '', numUpdates: 60 };
    await new ControlTail(log).append(first.runId, { kind: 'RunEnded', payload });
    const second = await begin();
    expect(second.isResumed).toBe(false);
    expect(second.runId).not.toBe(first.runId);
  });
});
