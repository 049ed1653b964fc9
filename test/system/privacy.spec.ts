import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLmdbLog } from '../../libs/log/src/lmdb/open-lmdb-log.js';
import { appendEvents } from '../../libs/log/src/testing/append-events.js';
import { newRunId } from '../../libs/trajectory/src/ids/ids.js';
import type { AnyEvent } from '../../libs/trajectory/src/events/event.js';
import {
  controlEvent,
  episodeEvent,
  episodeEvents,
} from '../../libs/trajectory/src/testing/episode-events.js';
import { makeDataDirectory, runRetrace } from '../support/cli.mjs';

/** In texts of columns that are compressed with LZ4, too, which leaves a random text as it is. */
const SECRET = crypto.randomUUID();

/** Deletion through the command line, down to the bytes of the files. */
describe('deletion of episodes', () => {
  const data = makeDataDirectory();
  const runId = newRunId();

  async function json<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await runRetrace([...args, '--json', '--data-dir', data.path]);
    expect(code, `${args.join(' ')}: ${stderr}`).toBe(0);
    return JSON.parse(stdout) as T;
  }

  /** Files below the data directory that have the secret. */
  async function filesWithSecret(): Promise<string[]> {
    const found: string[] = [];
    for (const entry of await readdir(data.path, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      if ((await readFile(path)).includes(SECRET)) found.push(path);
    }
    return found;
  }

  beforeAll(async () => {
    await json('collect', '--environment', 'frozen-lake', '--policy', 'expert', '--episodes', '4');
    const log = await openLmdbLog({ path: join(data.path, 'log'), createdBy: 'test' });
    const { logId } = log;
    const ids = { logId, runId };
    const recorded = { runKind: 'recorded', recipe: null, recipeHash: '', environment: '' } as const;
    await appendEvents(log, [controlEvent(ids, 'RunStarted', recorded)]);
    for (let ordinal = 0; ordinal < 12; ordinal++) {
      const isSecret = ordinal % 4 === 3;
      const text = isSecret ? SECRET : 'harmless';
      const messages = { input: [{ role: 'user', content: text }], output: null };
      const events = episodeEvents({
        ...{ ...ids, ordinal },
        step: () => ({ observation: text, parsedAction: text, messages, info: { text } }),
        started: {
          tags: isSecret && ordinal > 3 ? ['private'] : [],
          metadata: { text },
          task: text,
          externalId: text,
        },
      });
      const annotation = { tags: isSecret ? ['private'] : null, metadata: { text }, source: 'test' };
      await appendEvents(log, [
        ...events,
        episodeEvent(events[0], 'EpisodeAnnotated', 0, annotation) as AnyEvent,
      ]);
    }
    await log.close();
  });

  afterAll(() => {
    data.remove();
  });

  it('by their tag leaves no byte of them in any file once the data directory was compacted', async () => {
    expect(await json('verify')).toMatchObject({ ok: true, numEpisodes: 16 });
    // The store has the episodes a moment after the log.
    for (const part of ['log', 'store']) {
      const hasSecret = async () =>
        (await filesWithSecret()).some((path) => path.startsWith(join(data.path, part)));
      await expect.poll(hasSecret).toBe(true);
    }
    expect(await json('delete', '--run', runId, '--tag', 'private', '--dry-run')).toMatchObject({
      numEpisodes: 3,
      isDryRun: true,
    });
    // Three episodes of a start, three steps, an end and an annotation.
    expect(await json('delete', '--run', runId, '--tag', 'private')).toMatchObject({
      numEpisodes: 3,
      numRows: 18,
    });
    expect(await json('compact')).toMatchObject({ bytesAfter: expect.any(Number) as number });
    expect(await filesWithSecret()).toEqual([]);
    expect(await json('verify')).toMatchObject({ ok: true, numEpisodes: 13 });
    await json('rebuild');
    expect(await filesWithSecret()).toEqual([]);
    expect(await json('verify')).toMatchObject({ ok: true, numEpisodes: 13 });
  }, 300_000);

  it('refuses an episode that the run does not have, and a command that names none', async () => {
    for (const args of [['--episode', crypto.randomUUID()], []]) {
      const { code, stderr } = await runRetrace([
        ...['delete', '--run', runId, ...args],
        ...['--json', '--data-dir', data.path],
      ]);
      expect(code).toBe(2);
      expect(stderr).toContain('EPISODE_UNKNOWN');
    }
  });
});
