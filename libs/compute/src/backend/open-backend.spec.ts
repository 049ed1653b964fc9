import * as tf from '../tensorflow.js';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../testing/temporary-directory.js';
import { readComputeEnvironment } from './compute-environment.js';
import { listBackends } from './list-backends.js';
import { openBackend } from './open-backend.js';

const builtPackage = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

/** The environment of a machine on which nothing is installed. */
const emptyMachine = async () => ({
  ...readComputeEnvironment({}),
  cacheDirectory: await temporaryDirectory(),
});

describe('openBackend', () => {
  it('falls back on wasm and says why, where nothing is installed', async () => {
    const backend = await openBackend({ prefer: ['tensorflow', 'wasm'], environment: await emptyMachine() });
    expect(backend.name).toBe('wasm');
    expect(backend.reason).toMatch(/^wasm 4\.\d+\.\d+: not tensorflow, because 2\.\d+\.\d+ is not installed/);
    expect(tf.getBackend()).toBe('wasm');
  });

  it('names the reason for each backend when none of the requested ones works', async () => {
    const attempt = openBackend({ prefer: ['tensorflow'], environment: await emptyMachine() });
    await expect(attempt).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    await expect(attempt).rejects.toThrow(
      /^No backend works: not tensorflow, because 2\.\d+\.\d+ is not installed/,
    );
  });

  it('prints nothing on standard error while TensorFlow loads, unless TF_CPP_MIN_LOG_LEVEL is set', async (context) => {
    const { name } = (await listBackends()).find(({ isChosen }) => isChosen) ?? {};
    if (name !== 'tensorflow') context.skip();
    const open = (environment: NodeJS.ProcessEnv) =>
      spawnSync(
        process.execPath,
        [
          '--input-type=module',
          '-e',
          `const { openBackend } = await import(${JSON.stringify(builtPackage)});
           const { reason } = await openBackend();
           process.stderr.write('stderr again');
           console.log(reason);`,
        ],
        { encoding: 'utf8', env: { ...process.env, TF_CPP_MIN_LOG_LEVEL: undefined, ...environment } },
      );
    const quiet = open({});
    if (quiet.stdout.includes('without the fused ops')) context.skip();
    expect(quiet.stderr).toBe('stderr again');
    expect(open({ TF_CPP_MIN_LOG_LEVEL: '0' }).stderr).toMatch(/absl::InitializeLog.*stderr again/s);
  });

  it('opens the backend that RETRACE_BACKEND names', async () => {
    const environment = readComputeEnvironment({ RETRACE_BACKEND: 'cpu' });
    const { name, reason } = await openBackend({ environment });
    expect([name, reason]).toEqual(['cpu', expect.stringMatching(/^cpu 4.*: the first choice\.$/)]);
  });

  it('registers gradients with every backend', async () => {
    await openBackend({ prefer: ['cpu'] });
    const gradient = tf.grad((x) => tf.mul(x, x))(tf.tensor1d([3]));
    expect([...gradient.dataSync()]).toEqual([6]);
  });
});

describe('listBackends', () => {
  it('chooses the first that is available and gives the others a reason', async () => {
    const statuses = await listBackends({ environment: await emptyMachine() });
    expect(statuses.map(({ name }) => name).at(-1)).toBe('wasm');
    expect(statuses.filter(({ isChosen }) => isChosen)).toHaveLength(1);
    for (const { isAvailable, obstacle } of statuses) expect(obstacle === null).toBe(isAvailable);
  });

  it('finds the installation of this machine whole, if there is one', async () => {
    const statuses = await listBackends({ verify: true });
    for (const { installations } of statuses)
      for (const { damage } of installations) expect(damage).toBeNull();
  });
});
