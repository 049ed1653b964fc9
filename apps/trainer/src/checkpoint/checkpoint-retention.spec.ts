import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CheckpointFiles } from '@retrace/policy';
import { ControlFold, type AnyEvent, type ControlEventKind, type PayloadOf } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckpointRetention } from './checkpoint-retention.js';

let directory: string;
let checkpoints: CheckpointFiles;
let log: ControlFold;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-retention-'));
  checkpoints = new CheckpointFiles(directory);
  log = new ControlFold();
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

function append<K extends ControlEventKind>(runId: string, kind: K, payload: Partial<PayloadOf<K>>): void {
  const event = controlEvent({ logId: '', runId }, kind, payload);
  expect(log.apply(event as AnyEvent, log.nextOffset)).toEqual({ applied: true });
}

function startRun(runId: string, recipe: PayloadOf<'RunStarted'>['recipe']): void {
  append(runId, 'RunStarted', { recipe });
  append(runId, 'TrainerClaimed', { epoch: 0 });
}

/** Commits the next update of a run, whose optimizer state is this content, and publishes its weights where there are some. */
async function commit(
  runId: string,
  content: string,
  weightsContent?: string,
  location?: string,
): Promise<void> {
  const optimizer = await checkpoints.write(Buffer.from(content));
  const updateNumber = (log.run(runId)?.updates.numUpdates ?? 0) + 1;
  const planId = `${runId} ${updateNumber}`;
  append(runId, 'BatchPlanned', { planId, updateNumber, epoch: 0, groupIds: [] });
  append(runId, 'UpdateApplied', {
    planId,
    updateNumber,
    epoch: 0,
    policyVersionOut: updateNumber,
    optimizer,
  });
  if (weightsContent === undefined) return;
  const weights = await checkpoints.write(Buffer.from(weightsContent));
  const parentVersion = updateNumber - 1;
  append(runId, 'PolicyPublished', {
    policyVersion: updateNumber,
    parentVersion,
    updateNumber,
    epoch: 0,
    weights,
    location: location ?? `tinker://model/weights/${updateNumber}`,
  });
}

async function contents(): Promise<string[]> {
  const files = await Promise.all((await checkpoints.list()).map((ref) => checkpoints.read(ref)));
  return files.map((bytes) => Buffer.from(bytes).toString()).sort();
}

const [run, other] = ['01936d00-0000-7000-8000-00000000000a', '01936d00-0000-7000-8000-00000000000b'];
const recipe = { checkpoint: { keepLast: 2, keepEvery: 4 } };

describe('checkpoint retention', () => {
  it('forgets what an engine keeps once no resume, sampler, replay or reference asks for it', async () => {
    const loss = { kl: { coefficient: 0.1 } };
    startRun(run, { checkpoint: { keepLast: 2, keepEvery: 4 }, loss, imitation: { numUpdates: 1 } });
    const retention = new CheckpointRetention(checkpoints, run);
    const forgotten: string[] = [];
    const forget = (location: string) => {
      forgotten.push(location.replace('tinker://model/weights/', ''));
      return Promise.resolve();
    };
    for (let n = 1; n <= 8; n++) {
      await commit(run, `optimizer ${n}`, `weights ${n}`);
      await retention.apply(log.runs, forget);
    }
    // Update 1 is the reference, 4 a kept state, 7 and 8 the newest.
    expect(forgotten).toEqual(['2', '3', '5', '6']);
    for (let n = 9; n <= 11; n++) {
      // Updates that made no step.
      await commit(run, `optimizer ${n}`, 'weights 8', 'tinker://model/weights/8');
      await retention.apply(log.runs, forget);
    }
    expect(forgotten).toEqual(['2', '3', '5', '6', '7']);
    append(run, 'RunEnded', { reason: 'finished' });
    await retention.apply(log.runs, forget);
    expect(forgotten).toHaveLength(5);
  });

  it('keeps the newest and every n-th, and a new process removes what another left', async () => {
    startRun(run, recipe);
    for (const content of ['1', '2', '3', '4', '5', '6', '7']) await commit(run, content);
    expect(await contents()).toHaveLength(7);
    await new CheckpointRetention(checkpoints, run).apply(log.runs);
    expect(await contents()).toEqual(['4', '6', '7']);
    const restarted = new CheckpointRetention(checkpoints, run);
    for (const content of ['8', '9']) {
      await commit(run, content);
      await restarted.apply(log.runs);
    }
    expect(await contents()).toEqual(['4', '8', '9']);
  });

  it('keeps a file that a kept update of this or of another run names too', async () => {
    startRun(run, recipe);
    startRun(other, recipe);
    for (const content of ['shared', 'twice', 'x', 'y', 'twice', 'z']) await commit(run, content);
    for (const content of ['a', 'shared', 'b']) await commit(other, content);
    await new CheckpointRetention(checkpoints, run).apply(log.runs);
    expect(await contents()).toEqual(['a', 'b', 'shared', 'twice', 'y', 'z']);
    await new CheckpointRetention(checkpoints, other).apply(log.runs);
    expect(await contents()).toEqual(['b', 'shared', 'twice', 'y', 'z']);
  });

  it('removes weights that the recipe does not keep, also content that is written again', async () => {
    startRun(run, {
      checkpoint: { weights: { keepLast: 1, keepBest: 0, keepEvery: 100 }, keepLast: 2, keepEvery: 100 },
    });
    const retention = new CheckpointRetention(checkpoints, run);
    for (const content of ['1', '2', '3', '1', '4', '5']) {
      await commit(run, content, `weights ${content}`);
      await retention.apply(log.runs);
    }
    expect(await contents()).toEqual(['4', '5', 'weights 4', 'weights 5']);
  });

  it('never touches files of a run whose recipe says nothing of them', async () => {
    startRun(run, {});
    for (const content of ['1', '2', '3']) await commit(run, content, `weights ${content}`);
    await new CheckpointRetention(checkpoints, run).apply(log.runs);
    expect(await contents()).toEqual(['1', '2', '3', 'weights 1', 'weights 2', 'weights 3']);
  });
});
