import { execFile, type ExecFileException } from 'node:child_process';
import { promisify } from 'node:util';
import type { EngineRecipe } from '@retrace/config';
import { TrainerError } from '../../trainer-error.js';
import { pythonEnvironment } from './engine-process.js';

const run = promisify(execFile);

/** A busy machine may take long to start a Python. */
const TIMEOUT_MS = 300_000;

/** Packages that the engine's process imports; without one of them it does not start. */
export const ENGINE_PACKAGES = [
  'torch',
  'numpy',
  'safetensors',
  'aiohttp',
  'pyarrow',
  'retrace.engine',
] as const;

/** Packages that the back-end `verl` imports besides. */
export const VERL_PACKAGES = ['verl', 'ray', 'tensordict', 'transformers', 'peft'] as const;

/** How to get them. The package is on no index: `retrace` there is somebody else's. */
export function engineInstallation(extras = 'engine'): string {
  return `pip install 'clients/python[${extras}]' in a checkout of Retrace`;
}

/** Prints those that are not there, and loads none of them but the parents of packages. */
const PROBE = `
import importlib.util, sys
def lacks(name):
    try:
        return importlib.util.find_spec(name) is None
    except ImportError:
        return True
print(" ".join(filter(lacks, sys.argv[1:])))
`;

/**
 * Checks that the Python of a recipe's engine has what the engine imports, before a run begins that could not be trained. An engine that others
 * start is not looked at.
 *
 * @throws TrainerError `ENGINE_UNAVAILABLE`
 */
export async function requireEnginePackages(recipe: EngineRecipe): Promise<void> {
  if (recipe.kind !== 'torch' || recipe.url !== undefined) return;
  const python = recipe.python ?? 'python3';
  const refuse = (reason: string, cause?: unknown): never => {
    const message = `engine.python is ${python}, ${reason}; see "retrace doctor --engine torch"`;
    throw new TrainerError('ENGINE_UNAVAILABLE', message, { cause });
  };
  const inVerl = recipe.backend === 'verl';
  const packages = inVerl ? [...ENGINE_PACKAGES, ...VERL_PACKAGES] : ENGINE_PACKAGES;
  const { stdout } = await run(python, ['-c', PROBE, ...packages], {
    env: { ...process.env, ...pythonEnvironment() },
    timeout: TIMEOUT_MS,
  }).catch((cause: unknown) => {
    const { code, stderr = '' } = cause as ExecFileException & { readonly stderr?: string };
    if (code === 'ENOENT') return refuse('which is no program', cause);
    const said = stderr.trim().split('\n').at(-1) ?? '';
    return refuse(`which fails (${said === '' ? `exit code ${code ?? 'unknown'}` : said})`, cause);
  });
  const lacking = stdout.trim();
  if (lacking === '') return;
  const advice = engineInstallation(inVerl ? 'engine,verl' : 'engine');
  refuse(`which lacks ${lacking.replaceAll(' ', ', ')}: ${advice}`);
}
