import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openLmdbLog } from '@retrace/log/lmdb';
import { appendEvents } from '@retrace/log/testing';
import { newEpisodeEvent, newRunId, type AnyEvent, type RetraceEvent } from '@retrace/trajectory';
import { decodeEvent } from '@retrace/trajectory/codec';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, runRetrace } from '../support/cli.mjs';
import { placeTrainedDirectory } from '../support/trained-directory.mjs';

interface Report {
  readonly numTokens: number;
  readonly numEpisodes: number;
  readonly bound: number;
  readonly maxDifference: number;
  readonly numBeyond: number;
  readonly byPolicy: readonly { readonly policyVersion: number }[];
  readonly worst: readonly {
    readonly episodeId: string;
    readonly step: number;
    readonly stored: number;
    readonly computed: number;
  }[];
}

describe('retrace verify logprobs', { timeout: 600_000 }, () => {
  const directory = makeDataDirectory();
  const path = join(directory.path, 'data');
  const run = (...args: readonly string[]) => runRetrace([...args, '--data-dir', path, '--json']);
  const verify = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await run('verify', 'logprobs', ...args);
    return { code, stderr, report: (stdout === '' ? null : JSON.parse(stdout)) as Report | null };
  };

  beforeAll(() => placeTrainedDirectory(path, 1), 300_000);
  afterAll(() => {
    directory.remove();
  });

  it('finds the stored logprobs to be those of the policies', async () => {
    const { code, report } = await verify();
    expect(code).toBe(0);
    expect(report).toMatchObject({ numEpisodes: 500, bound: 0.002, numBeyond: 0 });
    expect(report?.numTokens).toBeGreaterThanOrEqual(500);
    expect(report?.maxDifference).toBeLessThan(1e-4);
    expect(report?.byPolicy.length).toBeGreaterThan(1);
  });

  it('names a token that its policy gave another logprob, and raises an alarm in the run', async () => {
    const episodeId = await copyAnEpisode(path, (logprobs) => logprobs.map((logprob) => logprob - 0.5));
    const { code, report, stderr } = await verify('--episodes', '10000');
    expect(code).toBe(1);
    expect(stderr).toContain('LOGPROBS_DIFFER');
    expect(report?.worst[0].episodeId).toBe(episodeId);
    expect(report?.worst[0].computed).toBeCloseTo((report?.worst[0].stored ?? 0) + 0.5, 3);
    const { stdout } = await run('sql', "SELECT rule, severity, episode_ids FROM warnings WHERE rule != ''");
    expect(JSON.parse(stdout)).toContainEqual({
      rule: 'logprobsDiffer',
      severity: 'alarm',
      episode_ids: [episodeId],
    });
    expect(await verify('--episodes', '10000', '--bound', '1')).toMatchObject({ code: 0 });
  });

  it('can’t tell where no weights are kept', { tags: 'release' }, async () => {
    await rm(join(path, 'checkpoints'), { recursive: true });
    const { code, stderr } = await verify();
    expect(code).toBe(3);
    expect(stderr).toContain('POLICY_REMOVED');
  });
});

/** Appends a sealed episode of the log once more, as another episode with changed logprobs of its actions. */
async function copyAnEpisode(
  data: string,
  change: (logprobs: Float32Array) => Float32Array,
): Promise<string> {
  const log = await openLmdbLog({ path: join(data, 'log'), createdBy: 'test' });
  try {
    const events = (await log.read('trajectories', 0, 0)).map(({ bytes }) => {
      const decoded = decodeEvent(bytes);
      if (!decoded.ok) throw new Error(decoded.reason);
      return decoded.event;
    });
    const copied = newRunId();
    const original = events.filter(({ episodeId }) => episodeId === events[0].episodeId);
    await appendEvents(
      log,
      original.map((event) => {
        const { schemaVersion: _, eventId: __, ...fields } = { ...event, episodeId: copied };
        if (fields.kind !== 'StepRecorded')
          return newEpisodeEvent(fields as RetraceEvent<'EpisodeEnded'>) as AnyEvent;
        const { actionMask, tokenLogprobs } = fields.payload;
        const changed = change(tokenLogprobs).map((logprob, n) =>
          actionMask[n] === 1 ? logprob : tokenLogprobs[n],
        );
        return newEpisodeEvent({
          ...fields,
          payload: { ...fields.payload, tokenLogprobs: changed },
        }) as AnyEvent;
      }),
    );
    return copied;
  } finally {
    await log.close();
  }
}
