import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeDataDirectory, runRetrace, startRetrace } from '../support/cli.mjs';
import { canMount, DISK_FULL, fillDisk, runOnSmallDisk } from '../support/small-disk.mjs';

const bandit = ['--recipe', 'bandit-ppo', '--backend', 'wasm'];

describe('a command that cannot work ends with one sentence of advice, given', () => {
  let directory: { path: string; remove: () => void };
  beforeEach(() => {
    directory = makeDataDirectory();
  });
  afterEach(() => {
    directory.remove();
  });
  const dataDir = () => ['--data-dir', directory.path];

  it('a data directory in use', async () => {
    const holder = startRetrace(['store', '--port', '0', ...dataDir()]);
    const url = await holder.waitFor(/store at (http:\S+);/);
    for (const command of [
      ['up', '--port', '0', ...bandit],
      ['train', ...bandit],
      ['store', '--port', '0'],
    ]) {
      expect(await runRetrace([...command, ...dataDir()])).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /^retrace: data directory \S+: in use by process \d+, which serves [^;]+; stop it, or choose another with --data-dir$/,
        ) as string,
      });
    }
    expect((await fetch(`${url}/ping`)).ok).toBe(true);
    expect(await holder.stop('SIGTERM')).toBe(0);
  });

  it('a port in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const port = String((server.address() as AddressInfo).port);
    try {
      expect(await runRetrace(['up', '--port', port, ...bandit, ...dataDir()])).toEqual({
        code: 1,
        stdout: '',
        stderr: `retrace: port ${port} on 127.0.0.1: another program uses it; choose another with --port`,
      });
      expect(readdirSync(directory.path)).toEqual([]);
    } finally {
      server.close();
    }
  });

  const badFields: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ['--set', 'optimizer.learningRate=2'],
      /^retrace: Invalid recipe: optimizer\.learningRate: got 2, must be a number from 0 to 1: a step of 1 changes/,
    ],
    [
      ['--set', 'optimizer.learnRate=1'],
      /^retrace: --set optimizer\.learnRate=1: unknown field "optimizer\.learnRate"; the fields here are learningRate, /,
    ],
    [['--set', 'model.headDim=15'], /^retrace: Invalid recipe: model\.headDim: got 15, must be even/],
    [['--recipe', 'frozen-cake'], /^retrace: Unknown recipe "frozen-cake"; use one of frozen-lake-ppo, /],
    [
      ['--set', 'advantage={"estimator":"gigpo","options":{}}', '--set', 'loss.valueCoefficient=0'],
      /^retrace: Invalid recipe: advantage gigpo with loss ppo: groupSize is 1, must be at least 2, as gigpo compares the episodes of a group$/,
    ],
    [
      ['--set', 'advantage={"estimator":"vtrace","options":{}}', '--set', 'loss.policyLoss=decoupledPpo'],
      /^retrace: Invalid recipe: advantage vtrace with loss decoupledPpo: decoupledPpo with vtrace: both contain the ratio to the behavior policy/,
    ],
    [['--updates', 'many'], /must be a whole number of at least 1/],
  ];
  const badField = 'a bad recipe field or argument, with exit code 2: %j';
  const refusesField = async (args: readonly string[], sentence: RegExp) => {
    const { code, stdout, stderr } = await runRetrace(['train', ...bandit, ...args, ...dataDir()]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(readdirSync(directory.path)).toEqual([]);
  };
  it.each(badFields.slice(0, 2))(badField, refusesField);
  it.each(badFields.slice(2))(badField, { tags: 'release' }, refusesField);

  const badBackends: readonly (readonly [readonly string[], Readonly<Record<string, string>>])[] = [
    [['train', '--recipe', 'bandit-ppo', '--backend', 'webgpu'], {}],
    [['up', '--port', '0', '--recipe', 'bandit-ppo', '--backend', 'tensorflow-cuda'], {}],
    [['train', '--recipe', 'bandit-ppo'], { RETRACE_BACKEND: 'webgpu' }],
    [
      ['collect', '--environment', 'bandit', '--policy', 'random', '--episodes', '1', '--backend', 'webgpu'],
      {},
    ],
  ];
  const badBackend = 'a backend that cannot be used here, before anything starts: %j with %j';
  const refusesBackend = async (args: readonly string[], named: Readonly<Record<string, string>>) => {
    const nothing = { XDG_CACHE_HOME: directory.path, CUDA_VISIBLE_DEVICES: '-1', ...named };
    const { code, stdout, stderr } = await runRetrace([...args, ...dataDir()], { environment: nothing });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^retrace: backend (webgpu|tensorflow-cuda) can't be used here: [^;]+; see "retrace backend list"$/,
    );
    expect(readdirSync(directory.path)).toEqual([]);
  };
  it.each(badBackends.slice(0, 1))(badBackend, refusesBackend);
  it.each(badBackends.slice(1))(badBackend, { tags: 'release' }, refusesBackend);

  it.each([
    [
      ['--environment', 'bandti', '--policy', 'random'],
      /^retrace: no environment is named 'bandti'; did you mean bandit/,
    ],
    [
      ['--environment', 'bandit', '--policy', 'rondam'],
      /^retrace: Unknown agent "rondam" in bandit; use one of /,
    ],
  ])('an environment or agent that does not exist: collect %j', async (args, sentence) => {
    const { code, stderr } = await runRetrace(['collect', ...args, '--episodes', '1', ...dataDir()]);
    expect(code).toBe(2);
    expect(stderr).toMatch(sentence);
    expect(readdirSync(directory.path)).toEqual([]);
  });

  const refused: readonly (readonly [readonly string[], string, RegExp])[] = [
    [['train', '--recipe', 'frozen-cake'], 'RECIPE_UNKNOWN', /^Unknown recipe "frozen-cake"; /],
    [['train', '--recipe', 'bandit-ppo', '--nope'], 'USAGE', /^unknown option '--nope'/],
    [['train', '--recipe'], 'USAGE', /^option '--recipe <name-or-file>' argument missing$/],
    [['trian'], 'USAGE', /^unknown command 'trian'/],
    [
      ['train', '--recipe', 'bandit-ppo', '--updates', 'many'],
      'USAGE',
      /must be a whole number of at least 1/,
    ],
    [['sql', 'SELECT 1', '--data-dir', '/nowhere/at/all'], 'DATA_DIRECTORY_UNUSABLE', /holds no events yet/],
  ];
  const oneObject = 'with --json, one JSON object on stderr: %j';
  const printsOne = async (args: readonly string[], code: string, message: RegExp) => {
    const { stdout, stderr } = await runRetrace([...args, '--json']);
    expect(stdout).toBe('');
    expect(JSON.parse(stderr)).toEqual({
      error: { code, message: expect.stringMatching(message) as string },
    });
  };
  const isOfLanding = ([, code]: (typeof refused)[number]) => code !== 'USAGE';
  it.each(refused.filter(isOfLanding))(oneObject, printsOne);
  it.each(refused.filter((one) => !isOfLanding(one)))(oneObject, { tags: 'release' }, printsOne);

  it('a check without an answer, with exit code 3, as 1 means that a fault was found', async () => {
    for (const args of [['verify'], ['replay', '--update', 'latest'], ['evaluate', '--policy', 'latest']]) {
      const { code, stderr } = await runRetrace([...args, ...dataDir()]);
      expect([code, stderr]).toEqual([3, expect.stringMatching(/holds no events yet/)]);
    }
    expect((await runRetrace(['runs', ...dataDir()])).code).toBe(1);
  });

  it('a Node that is too old', async () => {
    const pretend = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'18.20.4'}})`;
    expect(await runRetrace(['recipes'], { nodeArguments: ['--import', pretend] })).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'retrace: Retrace needs Node 20.19 or newer, and this is Node 18.20.4; install a newer one from https://nodejs.org and start again.',
    });
  });

  it('a path that cannot be a data directory', async () => {
    const file = join(directory.path, 'file');
    writeFileSync(file, '');
    const { code, stderr } = await runRetrace(['train', ...bandit, '--data-dir', file]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^retrace: data directory \S+: can't be written \(\w+\); choose another with --data-dir$/,
    );
    const { stderr: nothing } = await runRetrace([
      'sql',
      'SELECT 1',
      '--data-dir',
      join(directory.path, 'absent'),
    ]);
    expect(nothing).toMatch(/^retrace: data directory \S+: holds no events yet; start with "retrace up"/);
  });

  it(
    'corrupt checkpoints, whose last commit is made again',
    { tags: 'release', timeout: 400_000 },
    async () => {
      // Without validations: a version that still waits for its validation would be made again too.
      const few = ['numTestEpisodes=50', 'everyUpdates=0'].map((field) => `evaluation.${field}`);
      const settings = ['collection.groupsPerRound=16', ...few].flatMap((field) => ['--set', field]);
      const args = ['train', ...bandit, '--updates', '5', ...settings, ...dataDir()];
      const first = startRetrace(args);
      // Collectors play the two newest versions, which are made again as well.
      await first.waitFor(/update 3 /);
      await first.stop('SIGTERM');
      flipLastBits(join(directory.path, 'checkpoints'));
      const { code, stdout, stderr } = await runRetrace(args);
      expect(code, stderr).toBe(0);
      expect(stdout + stderr).toMatch(
        /the checkpoint of update \d was made again from the start of the run, bit for bit/,
      );
      // Those of versions before it, for which nobody waits, stay as they are.
      const verified = await runRetrace(['verify', ...dataDir()]);
      expect(verified.code).toBe(1);
      expect(verified.stdout).toMatch(/^CHECKPOINT_UNREADABLE run \S+ file [0-9a-f]{64}: /);
    },
  );

  it.skipIf(!canMount())('a full disk', () => {
    const args = ['train', ...bandit, '--updates', '2000'];
    expect(runOnSmallDisk(join(directory.path, 'disk'), `${fillDisk(0)}; exec "$@"`, args)).toMatchObject({
      code: 1,
      lines: [expect.stringMatching(DISK_FULL)],
    });
  });
});

/** Damages every file below a directory; a second time mends them. */
function flipLastBits(directory: string): void {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1] ^= 1;
    writeFileSync(path, bytes);
  }
}
