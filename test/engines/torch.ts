import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveRecipe, type EngineRecipe, type Recipe, type RecipeOverrides } from '@retrace/config';
import { CheckpointFiles } from '@retrace/policy';
import { ServerProcess } from '@retrace/process';
import { afterAll } from 'vitest';
import { DataDirectories } from '../support/cli.mjs';
import { madeTorchPython } from '../support/torch-environment.mjs';
import { findFreePort } from '../../libs/process/free-port.mjs';
import { TensorflowEngine } from '@retrace/trainer';
import { engineCommand, pythonEnvironment, TorchEngine } from '@retrace/trainer/torch';

/** The Python that has torch: that of RETRACE_TORCH_PYTHON, of `npm run test:engines`, or of the path. */
export const PYTHON = process.env.RETRACE_TORCH_PYTHON ?? madeTorchPython() ?? 'python3';

const ADVICE = 'set RETRACE_TORCH_PYTHON to a Python that has the package retrace[engine]';
const FIND_MISSING = `
from importlib.util import find_spec
print(', '.join(name for name in ('torch', 'pyarrow', 'aiohttp', 'safetensors') if find_spec(name) is None))`;

/** Why the torch engine can't be tested here; null where it can. */
export const obstacle = findObstacle();

if (obstacle !== null) process.stderr.write(`${obstacle}\n`);

export const VOCAB_SIZE = 11;

function findObstacle(): string | null {
  try {
    // Finding is a hundredth of importing.
    const missing = execFileSync(PYTHON, ['-c', FIND_MISSING], { stdio: 'pipe' }).toString('utf8').trim();
    return missing === '' ? null : `skipped: ${PYTHON} has no ${missing}; ${ADVICE}`;
  } catch (error) {
    return `skipped: ${PYTHON} does not run (${(error as Error).message.split('\n')[0]}); ${ADVICE}`;
  }
}

/** A built-in recipe with a model that trains in milliseconds. */
export function smallRecipe(name: string, { assignments = [], ...overrides }: RecipeOverrides = {}): Recipe {
  const small = ['model.numLayers=1', 'model.hiddenSize=16', 'model.intermediateSize=16'];
  return resolveRecipe(name, { ...overrides, assignments: [...small, ...assignments] });
}

/** The same recipe on the torch engine. */
export function onTorch(recipe: Recipe, processes = 1): Recipe {
  return { ...recipe, engine: { kind: 'torch', python: PYTHON, ...(processes > 1 ? { processes } : {}) } };
}

const directories = new DataDirectories();
afterAll(() => {
  directories.removeAll();
});

/** A directory that is removed after the spec file. */
export function newDirectory(): string {
  return directories.make();
}

export function openTensorflow(
  recipe: Recipe,
  checkpoints: CheckpointFiles,
  vocabSize = VOCAB_SIZE,
): Promise<TensorflowEngine> {
  return TensorflowEngine.open({ recipe, checkpoints, vocabSize, tokenizerHash: '' });
}

/** The engine in a process that the recipe starts. */
export function openTorch(recipe: Recipe, checkpoints: CheckpointFiles, processes = 1): Promise<TorchEngine> {
  const options = { checkpoints, vocabSize: VOCAB_SIZE, tokenizerHash: '' };
  return TorchEngine.open({ ...options, recipe: onTorch(recipe, processes) });
}

/** A worker that was started as a user starts one, for any number of engines one after the other. */
export class Worker {
  private constructor(
    private readonly server: ServerProcess,
    readonly url: string,
    private readonly tokenFile: string,
  ) {}

  static async start(processes = 1, python = PYTHON): Promise<Worker> {
    const tokenFile = join(newDirectory(), 'token');
    writeFileSync(tokenFile, 'a token of the tests');
    const server = new ServerProcess({
      command: [
        ...engineCommand({ python, processes }),
        ...['--host', '127.0.0.1', '--port', '{port}', '--token-file', tokenFile],
      ],
      directory: undefined,
      environment: pythonEnvironment(),
      port: await findFreePort(),
      startTimeoutMs: 240_000,
      check: async (url, signal) => {
        await fetch(`${url}/v1/engine`, { signal });
      },
    });
    return new Worker(server, await server.start(), tokenFile);
  }

  /** The engine of a recipe, in this worker. */
  open(
    recipe: Recipe,
    checkpoints: CheckpointFiles,
    vocabSize = VOCAB_SIZE,
    engine = this.section,
  ): Promise<TorchEngine> {
    return TorchEngine.open({ recipe: { ...recipe, engine }, checkpoints, vocabSize, tokenizerHash: '' });
  }

  /** Starts as many; each is lent to one engine at a time. */
  static async startLent(count: number, processes: number, python = PYTHON): Promise<LentWorkers> {
    const workers: Worker[] = [];
    for (let i = 0; i < count; i++) workers.push(await Worker.start(processes, python));
    return new LentWorkers(workers);
  }

  /** The section of a recipe that names this worker. */
  get section(): EngineRecipe {
    return { kind: 'torch', url: this.url, tokenFile: this.tokenFile };
  }

  /** Starts it once more at the same address, after it ended. */
  async restart(): Promise<void> {
    await this.server.restart();
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}

/** Workers that engines are opened in one after the other. */
export class LentWorkers {
  private readonly idle: Worker[];

  constructor(readonly workers: readonly Worker[]) {
    this.idle = [...workers];
  }

  /** Opens an engine in a worker that no other one is open in; the worker is free again when the engine is closed. */
  async open(openIn: (worker: Worker) => Promise<TorchEngine>): Promise<TorchEngine> {
    const worker = this.idle.shift();
    if (!worker) throw new Error('all workers are in use');
    const engine = await openIn(worker);
    const close = engine.close.bind(engine);
    engine.close = async () => {
      await close();
      this.idle.push(worker);
    };
    return engine;
  }

  async stop(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.stop()));
  }
}
