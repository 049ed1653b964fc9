import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../testing/temporary-directory.js';
import { findBuildTools, firstWithNodeHeaders } from './build-tools.js';

const WORKS = 'exit 0';
const PYTHON = 'case "$*" in *pip*) exit 0;; *) exit 0;; esac';
const PYTHON_WITHOUT_PIP = 'case "$*" in *pip*) exit 1;; *) exit 0;; esac';
const allTools = { python3: PYTHON, 'g++': WORKS, make: WORKS };

/** A machine on which these commands exist, and no others. */
async function machineWith(commands: Readonly<Record<string, string>>): Promise<NodeJS.ProcessEnv> {
  const directory = await temporaryDirectory();
  const bin = join(directory, 'bin');
  await mkdir(bin);
  for (const [name, script] of Object.entries(commands)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  await mkdir(join(directory, 'include', 'node'), { recursive: true });
  await writeFile(join(directory, 'include', 'node', 'node_api.h'), '');
  return { PATH: bin, npm_config_nodedir: directory };
}

describe('findBuildTools', () => {
  it('finds the tools of a machine that has all of them', async () => {
    const environment = await machineWith(allTools);
    const tools = await findBuildTools(environment);
    expect(tools).toEqual({ python: 'python3', nodePrefix: environment['npm_config_nodedir'] });
  });

  it.each([
    [
      'python3',
      { 'g++': WORKS, make: WORKS },
      'Python 3.8 or newer (`python3`) was not found; install python3.',
    ],
    ['a new enough python3', { ...allTools, python3: 'exit 1' }, 'Python 3.8 or newer'],
    [
      'pip',
      { ...allTools, python3: PYTHON_WITHOUT_PIP },
      '`python3 -m pip` does not run; install python3-pip.',
    ],
    [
      'a compiler',
      { python3: PYTHON, make: WORKS },
      'no C++ compiler (c++, g++ or clang++) was found; install g++.',
    ],
    ['make', { python3: PYTHON, 'g++': WORKS }, '`make` was not found; install make.'],
  ])('says in one sentence that %s is missing', async (_, commands, sentence) => {
    const environment = await machineWith(commands);
    const attempt = findBuildTools(environment);
    await expect(attempt).rejects.toMatchObject({ code: 'BACKEND_NOT_INSTALLABLE' });
    await expect(attempt).rejects.toThrow(`The fast backend can't be installed: ${sentence}`);
  });

  it('takes the first directory that holds the headers of Node', async () => {
    const environment = await machineWith({});
    const empty = await temporaryDirectory();
    const prefix = environment['npm_config_nodedir'];
    expect(await firstWithNodeHeaders([undefined, '', empty, prefix])).toBe(prefix);
    expect(await firstWithNodeHeaders([empty])).toBeNull();
  });
});
