import { mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { resolveRecipe } from '@retrace/config';
import { checkpointsAt } from '@retrace/policy';
import type {} from '@retrace/policy/s3-server';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { InProcessRun } from './support/in-process-run.js';

const server = inject('s3Server');
const TITLE = 'a run whose checkpoints are on S3';
const title = 'unavailable' in server ? `${TITLE} (skipped, because ${server.unavailable})` : TITLE;

/** Keeps the newest two, the best one, and every fourth as a keyframe. */
const recipe = resolveRecipe('bandit-ppo', {
  numUpdates: 9,
  assignments: [
    ...['collection.groupsPerRound=4', 'collection.groupSize=4', 'collection.concurrentEpisodes=16'],
    ...['evaluation.everyUpdates=3', 'evaluation.numValidationEpisodes=4', 'evaluation.numTestEpisodes=2'],
    ...['checkpoint.weights.keepLast=2', 'checkpoint.weights.keepBest=1', 'checkpoint.weights.keepEvery=4'],
    ...['checkpoint.keepLast=2', 'checkpoint.keepEvery=4'],
  ],
});

describe.skipIf('unavailable' in server)(title, () => {
  if ('unavailable' in server) return;
  const { endpoint, bucket, bucketDirectory, credentials } = server;
  let directory: string;

  beforeAll(async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', credentials.accessKeyId);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', credentials.secretAccessKey);
    await openBackend();
    directory = await mkdtemp(join(tmpdir(), 'retrace-s3-run-'));
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await rm(directory, { recursive: true });
  });

  const on = (machine: string) =>
    checkpointsAt({ directory: join(directory, machine), storage: { url: `s3://${bucket}/run`, endpoint } });

  it('goes on with other machines, past a damaged file, and ends with the files and weights of a run on disk', async () => {
    const log = join(directory, 'log');
    const first = await InProcessRun.begin(log, recipe, { checkpoints: on('first') });
    await first.work({ untilUpdate: 3 });
    await first.close();

    const second = await InProcessRun.reopen(log, recipe, first.id, on('second'));
    const [weights] = (await second.updates()).slice(-1).map((commit) => commit.weights);
    await truncate(join(bucketDirectory, 'run', `${weights.sha256}.safetensors`), weights.sizeBytes - 1);
    const shown: string[] = [];
    await second.work({ untilUpdate: 6, onWarning: (line) => shown.push(line) });
    await second.close();
    expect(shown.filter((line) => line.includes('checkpoint'))).toEqual([
      expect.stringContaining('going back to the checkpoint before update 3, to make it again'),
      'the checkpoint of update 3 was made again from the checkpoint of update 2, bit for bit',
    ]);

    const third = await InProcessRun.reopen(log, recipe, first.id, on('third'));
    await third.work();
    const names = await third.checkpointNames();
    const onS3 = await third.updates();
    await third.close();

    const uninterrupted = await InProcessRun.begin(join(directory, 'other'), { ...recipe, name: 'on disk' });
    await uninterrupted.work();
    const onDisk = await uninterrupted.updates();
    expect(onS3.map((commit) => commit.weights.sha256)).toEqual(
      onDisk.map((commit) => commit.weights.sha256),
    );
    expect(names.sort()).toEqual((await uninterrupted.checkpointNames()).sort());
    await uninterrupted.close();
  });
});
