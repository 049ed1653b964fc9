import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineRecipe } from '@retrace/config';
import { ServerProcess } from '@retrace/process';
import { TrainerError } from '../../trainer-error.js';
import type { EngineAddress } from './engine-connection.js';

/** An engine's process that answers. */
export interface ReachedEngine {
  readonly address: EngineAddress;
  /** Aborts when a process that was started here ends by itself; absent for one that others started. */
  readonly ended?: AbortSignal;
  /** Ends a process that was started here. */
  readonly stop: () => Promise<void>;
}

/** Loading torch takes seconds, and finding the other ranks up to minutes. */
const START_TIMEOUT_MS = 600_000;
/** How long a launcher may take to start an engine again that others started. */
const WAIT_MS = 600_000;
const POLL_MS = 500;
const CHECK_TIMEOUT_MS = 10_000;

/**
 * Sources of the Python package, in a checkout of the repository; null elsewhere.
 *
 * @param module URL of this file, by which a process may know it through a link in `node_modules`
 */
function pythonSources(module: string): string | null {
  const here = fileURLToPath(module);
  if (!existsSync(here)) return null;
  const sources = join(dirname(realpathSync(here)), '..', '..', '..', '..', '..', 'clients', 'python', 'src');
  return existsSync(join(sources, 'retrace')) ? sources : null;
}

/** Variables with which Python finds the package `retrace`: that of the checkout, or else an installed one. */
export function pythonEnvironment(module = import.meta.url): Readonly<Record<string, string>> {
  const sources = pythonSources(module);
  if (sources === null) return {};
  const { PYTHONPATH } = process.env;
  return { PYTHONPATH: [sources, ...(PYTHONPATH ? [PYTHONPATH] : [])].join(delimiter) };
}

/** The program and arguments that start an engine of so many processes on this machine. */
export function engineCommand({
  python,
  processes,
}: Pick<EngineRecipe, 'python' | 'processes'>): readonly string[] {
  const numProcesses = processes ?? 1;
  const launcher = ['-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', `${numProcesses}`];
  return [python ?? 'python3', ...(numProcesses > 1 ? launcher : []), '-m', 'retrace.engine'];
}

/**
 * Starts the engine that a recipe asks for, or waits until the one at its `url` answers.
 *
 * @throws TrainerError `ENGINE_UNAVAILABLE` with the last lines of a process that ended, or the last reason why nobody answered
 */
export function reachEngine(recipe: EngineRecipe): Promise<ReachedEngine> {
  return recipe.url === undefined ? startEngine(recipe) : findEngine(recipe, recipe.url);
}

async function startEngine(recipe: EngineRecipe): Promise<ReachedEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'retrace-engine-'));
  const tokenFile = join(directory, 'token');
  const token = randomBytes(32).toString('hex');
  await writeFile(tokenFile, token, { mode: 0o600 });
  const ending = new AbortController();
  const server = new ServerProcess({
    command: [...engineCommand(recipe), '--host', '127.0.0.1', '--port', '{port}', '--token-file', tokenFile],
    directory: undefined,
    environment: pythonEnvironment(),
    port: null,
    startTimeoutMs: START_TIMEOUT_MS,
    check: (url, signal) => requireAnswer({ url, token }, signal),
    onEnd: (lastLines) => {
      const said = lastLines.length === 0 ? '' : `; it said: ${lastLines.join(' | ')}`;
      ending.abort(new Error(`its process has ended${said}`));
    },
  });
  try {
    const url = await server.start();
    const stop = async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    };
    return { address: { url, token }, ended: ending.signal, stop };
  } catch (cause) {
    await rm(directory, { recursive: true, force: true });
    throw new TrainerError(
      'ENGINE_UNAVAILABLE',
      `engine: ${(cause as Error).message}; see "retrace doctor --engine torch"`,
      {
        cause,
      },
    );
  }
}

async function findEngine({ tokenFile }: EngineRecipe, url: string): Promise<ReachedEngine> {
  const token = tokenFile === undefined ? '' : (await readToken(tokenFile)).trim();
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    try {
      await requireAnswer({ url, token }, AbortSignal.timeout(CHECK_TIMEOUT_MS));
      return { address: { url, token }, stop: () => Promise.resolve() };
    } catch (cause) {
      const isFinal = cause instanceof TrainerError || performance.now() + POLL_MS > deadline;
      const message = `engine.url: nobody at ${url} answers as an engine (${(cause as Error).message})`;
      if (isFinal) throw new TrainerError('ENGINE_UNAVAILABLE', message, { cause });
      await sleep(POLL_MS);
    }
  }
}

function readToken(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new TrainerError('ENGINE_UNAVAILABLE', `engine.tokenFile: ${(cause as Error).message}`, { cause });
  });
}

/** Asks an engine what it is; rejects with the reason where it does not answer, with a `TrainerError` where waiting would not help. */
async function requireAnswer({ url, token }: EngineAddress, signal: AbortSignal): Promise<void> {
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}` };
    const sent = request(new URL('/v1/engine', url), { headers, signal }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.once('error', reject);
    sent.end();
  });
  if (status === 200) return;
  if (status === 401)
    throw new TrainerError(
      'ENGINE_REFUSED',
      `it refuses the token; engine.tokenFile must name the file that it was started with`,
    );
  throw new Error(`status ${status}`);
}
