import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCli } from '@retrace/cli';
import type { AlarmItem } from '@retrace/api';
import { ControlTail, WarningLog } from '@retrace/log';
import { openLmdbLog } from '@retrace/log/lmdb';
import { newRunId } from '@retrace/trajectory';
import { decodeEvent } from '@retrace/trajectory/codec';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, root, startRetrace } from '../support/cli.mjs';
import { placeTrainedDirectory } from '../support/trained-directory.mjs';

/** Where commands take a run that these rows do not try: all of them choose it by `chooseRun`, whose spec is beside it, or start roles that do not end. */
const NOT_HERE = ['collect/command.ts', 'train/command.ts'];

describe('every command that chooses a run', () => {
  const directory = makeDataDirectory();
  let store: ReturnType<typeof startRetrace>;
  /** From oldest to newest. */
  let runIds: readonly string[];

  /** Runs a command in this process, whether it succeeds or not; resolves to what it printed. */
  async function run(...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
    const printed = { stdout: '', stderr: '' };
    const { log, error } = console;
    const { write } = process.stderr;
    console.log = (text: string) => {
      printed.stdout += `${text}\n`;
    };
    console.error = (text: string) => {
      printed.stderr += `${text}\n`;
    };
    process.stderr.write = (text: string | Uint8Array) => {
      printed.stderr += text.toString();
      return true;
    };
    try {
      await runCli([...args, '--data-dir', directory.path]);
    } finally {
      Object.assign(console, { log, error });
      process.stderr.write = write;
    }
    return printed;
  }

  beforeAll(async () => {
    await placeTrainedDirectory(directory.path, 2);
    store = startRetrace(['store', '--port', '0', '--data-dir', directory.path]);
    await store.waitFor(/store at (http:\S+);/);
    const runs = JSON.parse((await run('runs', '--json')).stdout) as { run_id: string }[];
    runIds = runs.map(({ run_id: runId }) => runId).reverse();
    // Newer than the others, and of no use for most commands.
    await run('collect', '--environment', 'frozen-lake', '--policy', 'random', '--episodes', '1');
  });
  afterAll(async () => {
    await store.stop('SIGTERM');
    directory.remove();
  });

  const output = () => join(directory.path, 'output');
  /** Further arguments let most of them end at once, after the choice. Some need an update or a score, which the newest run of all lacks. */
  const COMMANDS: readonly (readonly [name: string, args: readonly string[], takesNewest: boolean])[] = [
    ['validate', [], false],
    ['fork', ['--episode', 'none', '--step', '0'], false],
    ['serve', ['--policy-version', '99', '--port', '0'], true],
    ['export', ['--output', output()], false],
    ['deadletters list', [], false],
    ['deadletters retry', ['--dry-run'], false],
    ['rebuild', [], false],
    ['delete', ['--tag', 'none', '--dry-run'], false],
    ['retain', ['--newest', '1000', '--dry-run'], false],
    ['replay', ['--update', '99'], true],
    ['whatif', ['--update', '99', '--set', 'loss.valueCoefficient=0.1'], true],
    ['score', [], true],
    ['score diff', ['bandit-ppo', 'bandit-ppo'], true],
    ['audit rewards', [], true],
    ['verify logprobs', ['--policy', '99'], true],
    ['evaluate', ['--policy', '99'], false],
    ['save-policy', [output(), '--policy', '99'], true],
  ];

  it.each(COMMANDS)('says on stderr which one it is: %s', async (name, args, takesNewest) => {
    const [first, second] = runIds;
    const command = name.split(' ');
    const part = first.slice(-8);
    const named = await run(...command, '--run', part, ...args);
    expect(named.stderr.split('\n')[0]).toBe(`run "${part}" is ${first} (bandit-ppo)`);
    expect(named.stdout).not.toContain('run "');
    if (!takesNewest) return;
    const latest = await run(...command, ...args, '--json');
    expect(latest.stderr.split('\n')[0]).toBe(`run "latest" is ${second} (bandit-ppo)`);
  });

  it('says it of policies, of the rows of replay run and runs delete, and says the same once', async () => {
    const [, second] = runIds;
    const cpu = ['--backend', 'cpu'];
    const line = `run "latest" is ${second} (bandit-ppo)\n`;
    const played = await run('play', '--policy', 'latest', '--policy', 'random', '--tasks', '1', ...cpu);
    expect(played.stderr).toBe(line);
    const collect = ['collect', '--environment', 'bandit', '--policy', 'latest', '--episodes', '1', ...cpu];
    expect((await run(...collect)).stderr).toBe(line);
    expect(
      (await run('replay', 'run', 'latest', '--engine', 'torch', '--engine-python', 'none')).stderr,
    ).toContain(line);
    expect((await run('export', '--run', second, '--output', output())).stderr).toBe('');
    const part = second.slice(-8);
    expect((await run('runs', 'delete', part)).stderr).toMatch(
      new RegExp(`^run "${part}" is ${second} \\(bandit-ppo\\)\n`),
    );
  });

  it('asks SQL as of the commit of an update of one, of which a part of the id will do', async () => {
    const [, second] = runIds;
    const newest = 'SELECT run_id, max(update_number) AS newest FROM updates GROUP BY run_id ORDER BY run_id';
    const ask = (moment: string) => run('sql', newest, '--as-of', moment, '--json');
    const rows = runIds.map((runId) => ({ run_id: runId }));
    expect(JSON.parse((await ask(`${second.slice(-8)}@1`)).stdout)).toEqual([
      { ...rows[0], newest: expect.any(Number) as number },
      { ...rows[1], newest: 1 },
    ]);
    expect((await ask('yesterday')).stderr).toContain('--as-of: must be a date with a time such as');
    expect((await ask(`${second}@9999`)).stderr).toContain('the store has no commit of');
    const plan = JSON.parse((await run('sql', newest, '--explain', '--json')).stdout) as object;
    expect(plan).toMatchObject({ names: ['updates'], tables: [{ table: 'events' }] });
    expect((await run('sql', newest, '--explain')).stdout).toContain('PrimaryKey episode_id: ');
    expect((await run('sql', 'DROP TABLE events', '--explain')).stderr).toContain('DROP');
    const named = await run('runs', 'annotate', second.slice(-8), '--star', '--tags', 'kept, kept,');
    expect(named.stderr).toBe(`run "${second.slice(-8)}" is ${second} (bandit-ppo)\n`);
    expect(named.stdout).toBe(`changed run ${second}\n`);
    await run('runs', 'annotate', second, '--no-star', '--archive', '--notes', 'a\nb', '--tags', '');
    expect((await run('runs', 'annotate', second)).stderr).toContain('name a change');
    expect((await run('runs', 'annotate', second, '--star', '--archived')).stderr).toContain(
      '--archive archives this one',
    );
    expect((await run('runs', 'annotate', second, '--tags', 'x'.repeat(300))).stderr).toContain('tags[0]');
    const log = await openLmdbLog({ path: join(directory.path, 'log'), createdBy: 'test' });
    const records = await log.read('control', 0, 0, { maxRecords: 100_000 });
    await log.close();
    const events = records
      .map(({ bytes }) => decodeEvent(bytes))
      .flatMap((one) => (one.ok ? [one.event] : []));
    const source = 'retrace runs annotate';
    expect(events.flatMap(({ kind, payload }) => (kind === 'RunAnnotated' ? [payload] : []))).toEqual([
      { tags: ['kept'], notes: null, starred: true, archived: null, source },
      { tags: [], notes: 'a\nb', starred: false, archived: true, source },
    ]);
  });

  it('acknowledges and silences alarms of one', async () => {
    const [first, second] = runIds;
    await run('runs', 'annotate', second, '--no-archive');
    const log = await openLmdbLog({ path: join(directory.path, 'log'), createdBy: 'test' });
    const control = new ControlTail(log);
    for (const runId of [first, second]) {
      const warnings = new WarningLog({ control, runId });
      warnings.raise({ source: 'trainer', severity: 'alarm', rule: 'entropyCollapse', message: 'low' });
      await warnings.flush();
    }
    control.close();
    await log.close();
    const part = second.slice(-8);
    const said = await run('alarms', 'ack', 'entropyCollapse', '--run', part, '--note', 'known');
    expect(said.stdout).toBe('acknowledged entropyCollapse of bandit-ppo\n');
    const again = await run('alarms', 'ack', 'entropyCollapse', '--run', part);
    expect(again.stderr).toContain(`no open alarm entropyCollapse of run ${part}`);
    const silence = ['alarms', 'silence', 'entropyCollapse', '--reason', 'a test'];
    expect((await run(...silence, '--until', '91d')).stderr).toContain('at most 90 days from now');
    const refused = [
      await run(...silence, '--until', 'soon'),
      await run('alarms', 'ack', 'x'.repeat(300)),
      await run(...silence, '--until', '1h', '--run', newRunId()),
    ];
    expect(refused.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining('--until is "soon"; must be "now", a time to come'),
      expect.stringContaining('; must have at most 256 characters'),
      expect.stringContaining('not found; see "retrace runs"'),
    ]);
    expect((await run(...silence, '--until', '1h')).stdout).toMatch(/^silenced entropyCollapse until 2/);
    const listed = async () => {
      const alarms = JSON.parse((await run('alarms', '--json')).stdout) as AlarmItem[];
      return alarms.map(({ runId, acknowledgement, silence: held }) => [
        ...[runId, acknowledgement?.note, held?.note],
      ]);
    };
    expect(new Set(await listed())).toEqual(
      new Set([
        [first, undefined, 'a test'],
        [second, 'known', 'a test'],
      ]),
    );
    const ofOne = await run('alarms', 'unsilence', 'entropyCollapse', '--run', part);
    expect(ofOne.stderr).toMatch(
      /No silence of entropyCollapse in run \S+ holds; one in all runs does, until 2/,
    );
    await run('alarms', 'unsilence', 'entropyCollapse');
    expect((await listed()).map(([, , note]) => note)).toEqual([undefined, undefined]);
    expect((await run('alarms', '--run', part)).stdout).toContain('by retrace alarms ack: known');
  });

  it('has a row above for each file that takes a run', () => {
    const commands = join(root, 'apps/cli/src/commands');
    const files = readdirSync(commands, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /runOption\(|runArgument\(|from-run/.test(
        file.endsWith('command.ts') ? readFileSync(join(commands, file), 'utf8') : '',
      ),
    );
    const named = COMMANDS.map(([name]) => `${name.split(' ')[0]}/command.ts`);
    expect(
      files.filter((file) => ![...named, ...NOT_HERE, 'runs/command.ts', 'alarms/command.ts'].includes(file)),
    ).toEqual([]);
  });
});
