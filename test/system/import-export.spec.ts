import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DataDirectories, runRetrace } from '../support/cli.mjs';

type Row = Record<string, unknown>;

const data = new DataDirectories();
const path = data.make();
const dumps = data.make();
let numSets = 0;

afterAll(() => {
  data.removeAll();
});

async function run(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runRetrace([...args, '--json', '--data-dir', path]);
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

async function importRows(name: string, rows: readonly unknown[], ...args: readonly string[]) {
  const file = join(dumps, `${name}.jsonl`);
  writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'));
  const report = await run('import', file, '--run', name, ...args);
  return JSON.parse(report.split('\n')[0]) as Row;
}

const sql = async (statement: string): Promise<Row[]> => JSON.parse(await run('sql', statement)) as Row[];

const runNamed = (name: string) => `run_id IN (SELECT run_id FROM runs WHERE name = '${name}')`;

/** The rows of a data set of the episodes of a run, or of its steps that fit. */
async function exported(format: string, runName: string, ofSteps: string | null = null) {
  const name = `set-${++numSets}`;
  const query =
    ofSteps === null
      ? `SELECT run_id, episode_id FROM episodes WHERE ${runNamed(runName)} ORDER BY started_at`
      : `SELECT run_id, episode_id, step FROM steps WHERE ${runNamed(runName)} AND ${ofSteps} ORDER BY occurred_at`;
  await run('dataset', 'create', name, '--format', format, '--sql', query);
  const lines = readFileSync(join(path, 'datasets', name, 'data', 'train-00000-of-00001.jsonl'), 'utf8');
  return lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}

const generation = (trace: string, id: number, input: readonly Row[], answer: string, fields: Row = {}) => ({
  id: `g${id}`,
  trace_id: trace,
  type: 'GENERATION',
  name: 'llm',
  start_time: `2026-01-05 10:00:0${id}.000000`,
  end_time: `2026-01-05 10:00:0${id}.500000`,
  input: JSON.stringify(input),
  output: JSON.stringify({ role: 'assistant', content: answer }),
  ...fields,
});
const system = (content: string) => ({ role: 'system', content });
const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

describe('what is imported and exported again', () => {
  it('has the prompt of each call, and a mark in SQL, where the history was rewritten', async () => {
    const order = user('refund for order 7');
    await importRows('handoff', [
      generation('h1', 1, [system('Route.'), order], 'billing'),
      generation('h1', 3, [system('You do billing.'), order], 'Refunded.'),
    ]);
    expect(
      await sql(`SELECT step, kept_messages FROM steps WHERE ${runNamed('handoff')} ORDER BY step`),
    ).toEqual([
      { step: 0, kept_messages: null },
      { step: 1, kept_messages: 0 },
    ]);
    expect(await exported('sft', 'handoff', 'step = 1')).toEqual([
      { prompt: [system('You do billing.'), order], completion: [assistant('Refunded.')] },
    ]);
    expect(await exported('sft', 'handoff')).toEqual([
      { messages: [system('Route.'), order, assistant('billing')] },
      { messages: [system('You do billing.'), order, assistant('Refunded.')] },
    ]);
    // No recorder of a trace knows a task, so there is nothing to compare an answer with.
    const [prompt] = await exported('prompts', 'handoff');
    expect(prompt).not.toHaveProperty('reward_model');
  });

  it(
    'has what a trace got since the last import, in its run',
    { tags: 'release', timeout: 600_000 },
    async () => {
      const first = generation('t', 1, [user('q1')], 'a1');
      const score = { id: 's1', trace_id: 't', name: 'ok', value: 0, data_type: 'NUMERIC', source: 'API' };
      await importRows('growing', [first, score]);
      const second = generation('t', 3, [user('q1'), assistant('a1'), user('q2')], 'a2');
      const third = generation(
        't',
        5,
        [user('q1'), assistant('a1'), user('q2'), assistant('a2'), user('q3')],
        'a3',
      );
      const more = [first, second, { ...score, value: 1, timestamp: '2026-01-05 10:01:00.000000' }];
      const report = await importRows('growing', more);
      expect(report).toMatchObject({ numEpisodes: 1, numSteps: 1, skipped: [] });
      // Importing it again adds nothing; what came even later goes on from there.
      expect(await importRows('growing', more)).toMatchObject({ skipped: [] });
      expect(await importRows('growing', [...more, third])).toMatchObject({ skipped: [] });
      const episodes = await sql(
        `SELECT external_id, parent_episode_id != '' AS is_child, num_steps FROM episodes WHERE ${runNamed('growing')} ORDER BY external_id`,
      );
      expect(episodes.map((row) => ({ ...row, is_child: Boolean(row.is_child) }))).toEqual([
        { external_id: 't', is_child: false, num_steps: 1 },
        { external_id: 't/more-1', is_child: true, num_steps: 1 },
        { external_id: 't/more-1/more-1', is_child: true, num_steps: 1 },
      ]);
      const rows = await exported('sft', 'growing', '1');
      expect(rows.map(({ prompt }) => (prompt as Row[]).map(({ content }) => content))).toEqual([
        ['q1'],
        ['q1', 'a1', 'q2'],
        ['q1', 'a1', 'q2', 'a2', 'q3'],
      ]);
      const rewards = await sql(
        `SELECT value FROM current_rewards WHERE ${runNamed('growing')} AND name = 'ok'`,
      );
      expect(rewards).toEqual([{ value: 1 }]);
      // A score that changes back is the newest again.
      await importRows('growing', [first, second, score, third]);
      expect(
        await sql(`SELECT value FROM current_rewards WHERE ${runNamed('growing')} AND name = 'ok'`),
      ).toEqual([{ value: 0 }]);
    },
  );

  it(
    'has the tags and metadata of the newest import, also where they changed back; importing that again adds nothing',
    { tags: 'release', timeout: 600_000 },
    async () => {
      const rules = join(dumps, 'rules.json');
      writeFileSync(rules, JSON.stringify({ rules: [{ name: 'key', pattern: 'secret-[a-z]+' }] }));
      const environment = { RETRACE_REDACTION_RULES: rules };
      const file = join(dumps, 'noted.jsonl');
      const numNotes: number[] = [];
      for (const tag of ['a', 'b', 'b', 'a', 'a', 'b']) {
        const observations = [generation('noted', 1, [user('q1')], 'a1')];
        const facts = { name: 'noted', timestamp: '2026-01-05T10:00:00Z' };
        const about = { id: 'noted', ...facts, tags: [tag], metadata: { plan: tag, key: 'secret-x' } };
        writeFileSync(file, JSON.stringify({ ...about, observations }));
        const args = ['import', file, '--run', 'noted', '--json', '--data-dir', path];
        expect(await runRetrace(args, { environment })).toMatchObject({ code: 0 });
        const [{ tags, metadata, noted }] = await sql(
          `SELECT tags, metadata, (SELECT count() FROM events WHERE kind = 'EpisodeAnnotated') AS noted
           FROM episodes WHERE ${runNamed('noted')}`,
        );
        numNotes.push(Number(noted));
        expect(tags).toEqual([tag]);
        expect(JSON.parse(String(metadata))).toMatchObject({
          metadata: { plan: tag, key: '[redacted:key]' },
        });
      }
      expect(numNotes).toEqual([0, 1, 1, 2, 2, 3]);
    },
  );

  it(
    'has the same tokens, sampling, outcome and prompts as ATIF, and the same turns as conversations',
    { tags: 'release', timeout: 300_000 },
    async () => {
      await run('collect', '--environment', 'frozen-lake', '--policy', 'expert', '--episodes', '2');
      const [lake] = await sql(
        "SELECT name FROM runs WHERE run_id IN (SELECT run_id FROM episodes WHERE environment = 'frozen-lake')",
      );
      const name = String(lake.name);
      const facts = (runName: string) =>
        sql(
          `SELECT s.step AS step, s.token_ids AS ids, s.action_mask AS mask, s.kept_prefix_tokens AS kept, s.reward AS reward,
           s.temperature AS temperature, s.tokenizer_hash AS tokenizer, e.success AS success, e.end_reason AS end_reason, e.task AS task
         FROM steps AS s JOIN episodes AS e USING (run_id, episode_id)
         WHERE s.${runNamed(runName)} ORDER BY e.environment_seed, s.step`,
        );
      const before = await facts(name);
      expect(before.length).toBeGreaterThan(2);
      await importRows('again', await exported('atif', name));
      expect(wholePrompts(await facts('again'))).toEqual(wholePrompts(before));
      // `context.window: observation` of the built-in recipe: a prompt is the observation of its step.
      const rows = await exported('sft', 'again', 'step = 1');
      expect(rows.map(({ prompt }) => (prompt as Row[]).length)).toEqual([1, 1]);
      await importRows('turns', await exported('conversations', name));
      const outcome = (rows: Row[]) =>
        rows.map(({ reward, success, end_reason: reason, task }) => ({ reward, success, reason, task }));
      const turns = await facts('turns');
      // Each step is a conversation of its own, so its episode is one, with the outcome of the whole.
      expect(outcome(turns).sort(compare)).toEqual(outcome(before).sort(compare));
    },
  );
});

/** Steps with the tokens of their whole context in place of those that they appended, of which an import may find that more were kept. */
function wholePrompts(rows: Row[]): Row[] {
  let context: number[] = [];
  return rows.map(({ ids, mask, kept, ...row }) => {
    const numSampled = (mask as number[]).filter((sampled) => sampled === 1).length;
    context = [...context.slice(0, row.step === 0 ? 0 : Number(kept)), ...(ids as number[])];
    return { ...row, context, numSampled };
  });
}

const compare = (a: Row, b: Row): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
