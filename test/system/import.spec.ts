import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SAMPLE_ROWS } from '@retrace/importers/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DataDirectories, runRetrace } from '../support/cli.mjs';

interface Report {
  readonly runId: string;
  readonly numEpisodes: number;
  readonly numSteps: number;
  readonly numRecords: number;
  readonly numKnownRecords: number;
  readonly skipped: readonly { readonly code: string; readonly count: number }[];
  readonly verified: {
    readonly numEqual: number;
    readonly numDiverged: number;
    readonly numFilledRewards: number;
  };
}

const data = new DataDirectories();
const path = data.make();
const dumps = data.make();

async function importInto(...args: readonly string[]) {
  const { code, stdout, stderr } = await runRetrace(['import', ...args, '--json', '--data-dir', path]);
  return { code, stderr, report: JSON.parse(stdout.split('\n')[0]) as Report };
}

async function sql(statement: string): Promise<Record<string, unknown>[]> {
  const { stdout } = await runRetrace(['sql', '--json', '--data-dir', path, statement]);
  return JSON.parse(stdout) as Record<string, unknown>[];
}

function writeDump(name: string, rows: readonly unknown[]): string {
  const file = join(dumps, name);
  writeFileSync(file, rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n'));
  return file;
}

/** Episodes of the frozen lake as SQL has them, as conversations without rewards and last observations. */
async function collectedConversations(withTask: boolean) {
  await runRetrace([
    'collect',
    '--environment',
    'frozen-lake',
    '--policy',
    'greedy',
    '--episodes',
    '6',
    '--data-dir',
    path,
  ]);
  const episodes = await sql(
    `SELECT episode_id, any(e.task) AS task, any(e.environment_seed) AS seed,
      groupArray(observation) AS observations, groupArray(action) AS actions, groupArray(s.reward) AS rewards
     FROM (SELECT * FROM steps ORDER BY step) s JOIN episodes e USING (episode_id)
     WHERE e.environment = 'frozen-lake' AND e.agent = 'greedy' GROUP BY episode_id ORDER BY episode_id`,
  );
  return episodes.map(({ task, seed, observations, actions, rewards }) => ({
    rewards: rewards as number[],
    row: {
      ...(withTask ? { environment: 'frozen-lake', task: parsed(task), environment_seed: Number(seed) } : {}),
      conversations: (observations as string[]).flatMap((observation, step) => [
        { from: 'human', value: observation },
        { from: 'gpt', value: (actions as string[])[step] },
      ]),
    },
  }));
}

const parsed = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value);

afterAll(() => {
  data.removeAll();
});

describe('retrace import', () => {
  it('takes rows of each format into SQL, and the same file again adds nothing', async () => {
    const file = writeDump('verl.jsonl', [
      ...SAMPLE_ROWS.verl,
      '{"input": "broken',
      { input: 1, output: 'x', score: 1 },
    ]);
    const first = await importInto(file, '--report', join(dumps, 'rows.jsonl'));
    expect(first.code).toBe(0);
    expect(first.report).toMatchObject({ numEpisodes: 2, numSteps: 3, numKnownRecords: 0 });
    expect(first.report.skipped.map(({ code }) => code).sort()).toEqual(['FIELD_MISSING', 'NOT_JSON']);
    const rows = readFileSync(join(dumps, 'rows.jsonl'), 'utf8').trim().split('\n');
    expect(rows.map((row) => (JSON.parse(row) as { outcome: string }).outcome).sort()).toEqual([
      'skipped',
      'skipped',
      'taken',
      'taken',
    ]);
    const again = await importInto(file);
    expect(again.report).toMatchObject({
      runId: first.report.runId,
      numKnownRecords: first.report.numRecords,
    });
    const found = await sql(
      `SELECT r.kind AS kind, r.name AS name, count() AS episodes, sum(e.return) AS total FROM episodes e JOIN runs r USING (run_id)
       WHERE run_id = '${first.report.runId}' GROUP BY ALL`,
    );
    expect(found).toEqual([{ kind: 'recorded', name: 'verl.jsonl', episodes: 2, total: 1.75 }]);
  });

  it('reads a directory as one run, and every format', { tags: 'release', timeout: 300_000 }, async () => {
    const counts: Record<string, number> = {};
    for (const [format, rows] of Object.entries(SAMPLE_ROWS)) {
      mkdirSync(join(dumps, format));
      writeDump(join(format, 'rows.jsonl'), rows);
      const { report } = await importInto(join(dumps, format), '--run', `sample ${format}`);
      counts[format] = report.numEpisodes;
      expect(report.skipped.filter(({ code }) => code === 'REFUSED')).toEqual([]);
    }
    const found = await sql(
      `SELECT name, count() AS episodes FROM episodes JOIN runs USING (run_id) WHERE name LIKE 'sample %' GROUP BY name ORDER BY name`,
    );
    expect(Object.fromEntries(found.map(({ name, episodes }) => [name, episodes]))).toEqual(
      Object.fromEntries(Object.entries(counts).map(([format, count]) => [`sample ${format}`, count])),
    );
  });

  it('hides what the redaction rules name, and refuses wrong rules before anything is written', async () => {
    const conversations = [
      { from: 'human', value: 'my key is sk-123456' },
      { from: 'gpt', value: 'noted' },
    ];
    const file = writeDump('secret.jsonl', [{ conversations }]);
    const rules = (pattern: string): Record<string, string> => ({
      RETRACE_REDACTION_RULES: writeDump('rules.json', [{ rules: [{ name: 'key', pattern }] }]),
    });
    const args = ['import', file, '--run', 'redacted', '--data-dir', path];
    const wrong = await runRetrace(args, { environment: rules('(') });
    expect(wrong.code).toBe(2);
    const { code } = await runRetrace(args, { environment: rules('sk-[0-9]+') });
    expect(code).toBe(0);
    const found = await sql(
      "SELECT observation FROM steps WHERE run_id IN (SELECT run_id FROM runs WHERE name = 'redacted')",
    );
    expect(found).toEqual([{ observation: expect.stringContaining('my key is [redacted:key]') as string }]);
  });

  it('says what to do where no format fits, and where there is no file', async () => {
    const odd = writeDump('odd.jsonl', [{ nothing: 'known' }]);
    const unknown = await runRetrace(['import', odd, '--data-dir', path]);
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain('--format: otlp, atif');
    const missing = await runRetrace(['import', join(dumps, 'no.jsonl'), '--data-dir', path]);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('not found')]);
    const packed = join(dumps, 'packed.jsonl');
    writeFileSync(packed, Buffer.from('fd377a585a000004', 'hex'));
    const unreadable = await runRetrace(['import', packed, '--data-dir', path]);
    const reason = `${packed}: the file is compressed with xz; unpack it first`;
    expect([unreadable.code, unreadable.stderr]).toEqual([2, expect.stringContaining(reason)]);
    const device = await runRetrace(['import', '/dev/null', '--data-dir', path]);
    const wanted = '"/dev/null" is a FIFO or a device; name a file or a directory';
    expect([device.code, device.stderr]).toEqual([2, expect.stringContaining(wanted)]);
  });
});

describe('retrace import --verify', () => {
  let collected: Awaited<ReturnType<typeof collectedConversations>>;
  beforeAll(async () => {
    collected = await collectedConversations(true);
  });

  it(
    'fills in the rewards and outcomes of collected episodes that were exported without',
    { tags: 'release' },
    async () => {
      const file = writeDump(
        'lakes.jsonl',
        collected.map(({ row }) => row),
      );
      const { code, report } = await importInto(file, '--verify');
      expect(code).toBe(0);
      const numSteps = collected.reduce((sum, { rewards }) => sum + rewards.length, 0);
      expect(report.verified).toMatchObject({ numEqual: 6, numDiverged: 0, numFilledRewards: numSteps });
      const imported = await sql(
        `SELECT groupArray(reward) AS rewards FROM (SELECT * FROM steps WHERE run_id = '${report.runId}' ORDER BY step) GROUP BY episode_id`,
      );
      const sorted = (lists: readonly unknown[]) => lists.map((list) => JSON.stringify(list)).sort();
      expect(sorted(imported.map(({ rewards }) => rewards))).toEqual(
        sorted(collected.map(({ rewards }) => rewards)),
      );
    },
  );

  it(
    'finds tasks by their first observation, and exits 1 where an observation differs',
    { tags: 'release' },
    async () => {
      const rows = collected.map(({ row }) => ({ conversations: row.conversations }));
      rows[0] = {
        conversations: rows[0].conversations.map((turn, i) =>
          i === 2 ? { ...turn, value: 'elsewhere' } : turn,
        ),
      };
      const file = writeDump('lakes-without-task.jsonl', rows);
      const { code, stderr, report } = await importInto(file, '--verify', '--environment', 'frozen-lake');
      expect(report.verified).toMatchObject({ numEqual: 5, numDiverged: 1 });
      expect([code, stderr]).toEqual([1, expect.stringContaining('1 episodes differ')]);
    },
  );
});
