import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, runRetrace, startRetrace } from '../support/cli.mjs';
import { placeTrainedDirectory } from '../support/trained-directory.mjs';

/** Every use of the data after training, through the command line, with and without a server. */
describe('audit, rebuild, archive, delete', () => {
  const data = makeDataDirectory();
  const elsewhere = makeDataDirectory();
  const file = join(elsewhere.path, 'run.arrows');
  let server: ReturnType<typeof startRetrace>;
  let runId = '';

  interface RunHash {
    readonly runId: string;
    readonly rowHash: string;
  }

  /** Runs a command that must succeed, and parses what it prints. */
  async function json<T>(path: string, ...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await runRetrace([...args, '--json', '--data-dir', path]);
    expect(code, `${args.join(' ')}: ${stderr}`).toBe(0);
    return JSON.parse(stdout) as T;
  }

  async function refusal(path: string, ...args: string[]): Promise<{ code: string; message: string }> {
    const { code, stderr } = await runRetrace([...args, '--json', '--data-dir', path]);
    expect(code).toBe(1);
    return (JSON.parse(stderr.split('\n').at(-1) ?? '') as { error: { code: string; message: string } })
      .error;
  }

  const verify = (path: string) =>
    json<{ ok: boolean; numEpisodes: number; numDeletedRecords: number; runHashes: RunHash[] }>(
      path,
      'verify',
    );
  const hashOf = ({ runHashes }: { runHashes: RunHash[] }) =>
    runHashes.find((run) => run.runId === runId)?.rowHash;

  beforeAll(async () => {
    await placeTrainedDirectory(data.path, 1);
    server = startRetrace(['up', '--no-training', '--port', '0', '--data-dir', data.path]);
    await server.untilServing(110_000);
    const runs = await json<{ run_id: string }[]>(data.path, 'runs');
    runId = runs[0].run_id;
  });

  afterAll(async () => {
    server.child.kill('SIGKILL');
    await server.ended;
    data.remove();
    elsewhere.remove();
  });

  it('verifies, rebuilds the same rows and exports checkpoints while a server runs', async () => {
    const before = await verify(data.path);
    expect(before).toMatchObject({ ok: true });
    const rebuilt = await json<{ before: RunHash[]; after: RunHash[] }>(data.path, 'rebuild');
    expect(rebuilt.after).toEqual(rebuilt.before);
    expect(await json(data.path, 'export', '--run', runId, '--output', file, '--checkpoints')).toMatchObject({
      runId,
      rowHash: hashOf(before),
      numDeadLetters: 0,
    });
  });

  it('exports a run to a page, with the newest episodes and what the page shows of it', async () => {
    const page = join(elsewhere.path, 'run.html');
    const args = ['--run', runId, '--output', page, '--html', '--episodes', '1'];
    const report = await json<Record<string, number>>(data.path, 'export', ...args);
    const html = await readFile(page, 'utf8');
    expect(report).toMatchObject({ runId, numEpisodes: 1, sizeBytes: Buffer.byteLength(html) });
    const [, run = ''] = /<script id="saved-run" type="application\/json">([^<]*)<\/script>/.exec(html) ?? [];
    const { episodes, answers } = JSON.parse(run) as {
      episodes: { steps: unknown[]; numSteps: number }[];
      answers: Record<string, { items?: unknown[]; series?: { name: string }[] }>;
    };
    expect(episodes[0].steps).toHaveLength(episodes[0].numSteps);
    expect(answers[`/api/runs/${runId}/updates`].items).toHaveLength(2);
    const series = answers[`/api/runs/${runId}/metrics`].series?.map(({ name }) => name);
    expect(series).toEqual(expect.arrayContaining(['train/loss', 'rollout/success']));
    expect(answers[`/api/runs/${runId}/updates/2/inputs`].items?.length).toBeGreaterThan(0);
  });

  it(
    'refuses a damaged run file without changes, imports an intact one once, and replays an update of it',
    { tags: 'release' },
    async () => {
      const bytes = await readFile(file);
      const damaged = `${file}.damaged`;
      await writeFile(damaged, bytes.with(bytes.length >> 1, bytes[bytes.length >> 1] ^ 0xff));
      expect(await refusal(elsewhere.path, 'import', damaged)).toMatchObject({ code: 'RUN_FILE_DAMAGED' });
      const imported = await json<{ isIdentical: boolean; numCheckpointFiles: number }>(
        elsewhere.path,
        'import',
        file,
      );
      expect(imported.isIdentical).toBe(true);
      expect(imported.numCheckpointFiles).toBeGreaterThan(2);
      expect(await json(elsewhere.path, 'replay', '--update', '2')).toMatchObject({
        isReproduced: true,
      });
      expect(await refusal(elsewhere.path, 'import', file)).toMatchObject({ code: 'RUN_EXISTS' });
    },
  );

  it(
    'deletes all of a run while a server runs; a later import restores it',
    { tags: 'release' },
    async () => {
      const deleted = await json<{ numReleased: number; numCheckpointFiles: number }>(
        data.path,
        'runs',
        'delete',
        runId,
      );
      expect(deleted.numReleased).toBeGreaterThan(100);
      expect(deleted.numCheckpointFiles).toBeGreaterThan(2);
      expect(await json<unknown[]>(data.path, 'runs')).toEqual([]);
      expect(await verify(data.path)).toMatchObject({ ok: true, numEpisodes: 0 });
      const imported = await json<{ isIdentical: boolean }>(data.path, 'import', file);
      expect(imported.isIdentical).toBe(true);
    },
  );

  it('deletes runs by age without a server', { tags: 'release' }, async () => {
    const would = await json(elsewhere.path, 'retain', '--older-than', '0m', '--dry-run');
    expect(would).toMatchObject({ deleted: [{ runId }], dryRun: true });
    expect(await json(elsewhere.path, 'retain', '--older-than', '0m')).toMatchObject({
      deleted: [{ runId }],
    });
    expect(await verify(elsewhere.path)).toMatchObject({ ok: true, numEpisodes: 0 });
  });
});
