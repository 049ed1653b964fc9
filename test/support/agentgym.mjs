import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { makePythonEnvironment, pipInstall } from './python-client.mjs';

const run = promisify(execFile);

/** The commit of AgentGym whose servers are run. */
const AGENTGYM_COMMIT = '3ef9235d23e68e7c2920c5422ad957dc8ced5c6c';
const AGENTGYM = 'https://github.com/WooooDyy/AgentGym';
/** Packages that the two servers import; textcraft also names transformers, which it never imports. */
const REQUIREMENTS = [
  ...['fastapi==0.128.0', 'uvicorn==0.40.0', 'gym==0.26.2', 'gymnasium==0.29.1'],
  ...['minigrid==2.3.1', 'numpy<2', 'matplotlib==3.10.8'],
];

/**
 * Installs AgentGym's servers textcraft and babyai, unmodified, once: their folders lie beside their Python.
 *
 * @param {string} [source] a repository that has the commit: an address, or its git directory; GitHub's otherwise
 * @returns {Promise<{ python: string; folder: (family: string) => string } | { unavailable: string }>} the reason completes "skipped, because …"
 */
export async function installAgentGym(source = AGENTGYM) {
  const environment = await makePythonEnvironment('agentgym-3ef9235', async (python, directory) => {
    await takeServers(source, join(directory, 'agentgym'));
    await pipInstall(python, REQUIREMENTS);
  });
  if ('unavailable' in environment) return environment;
  const folders = join(dirname(dirname(environment.python)), 'agentgym');
  return { python: environment.python, folder: (family) => join(folders, `agentenv-${family}`) };
}

/** Takes the two folders of the commit; of an address only what they need is fetched. */
async function takeServers(source, folder) {
  await mkdir(folder);
  const git = (args) => run('git', ['-C', folder, ...args], { maxBuffer: 64 * 1024 ** 2, timeout: 600_000 });
  const paths = ['agentenv-textcraft', 'agentenv-babyai'];
  if (existsSync(source)) {
    const packed = join(folder, 'servers.tar');
    await git(['--git-dir', source, 'archive', '--output', packed, AGENTGYM_COMMIT, ...paths]);
    await run('tar', ['-xf', packed, '-C', folder]);
    return;
  }
  await git(['init', '--quiet']);
  await git(['remote', 'add', 'origin', source]);
  await git(['fetch', '--quiet', '--depth', '1', '--filter', 'blob:none', 'origin', AGENTGYM_COMMIT]);
  await git(['checkout', '--quiet', AGENTGYM_COMMIT, '--', ...paths]);
}
