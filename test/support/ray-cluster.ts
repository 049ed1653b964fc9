import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineRecipe } from '@retrace/config';
import { ServerProcess } from '@retrace/process';
import { findFreePort } from '../../libs/process/free-port.mjs';
import { Session } from './cli.mjs';
import { pythonVariables } from './python-client.mjs';

/** Of a start on a busy machine. */
const START_TIMEOUT_MS = 240_000;
const OBJECT_STORE_BYTES = 100_000_000;

/** A Ray cluster of one node, and the torch worker in it, both started as a user starts them. */
export class RayCluster {
  private constructor(
    private readonly head: ServerProcess,
    private readonly launcher: Session,
    private readonly directory: string,
    /** The section of a recipe that names the worker. */
    readonly section: Required<Pick<EngineRecipe, 'url' | 'tokenFile'>> & Pick<EngineRecipe, 'kind'>,
  ) {}

  /**
   * Starts a cluster with a CPU for each rank, and a worker of so many ranks.
   *
   * @param python that has torch and Ray
   */
  static async start(python: string, processes: number): Promise<RayCluster> {
    // Ray's sockets lie below, and their paths may not be long.
    const directory = await mkdtemp(join(tmpdir(), 'ray-'));
    const environment = makeEnvironment(directory);
    const [rayPort, port] = [await findFreePort(), await findFreePort()];
    const head = new ServerProcess({
      command: [
        ...[python, '-m', 'ray.scripts.scripts', 'start', '--head', '--block', '--port', '{port}'],
        ...['--node-ip-address', '127.0.0.1', '--num-cpus', `${processes}`, '--include-dashboard', 'false'],
        ...['--object-store-memory', `${OBJECT_STORE_BYTES}`, '--temp-dir', join(directory, 'ray')],
        // Else it takes ports that others of this machine may have.
        ...['--min-worker-port', '0', '--max-worker-port', '0'],
      ],
      ...{ directory: undefined, environment, port: rayPort, startTimeoutMs: START_TIMEOUT_MS },
      check: () => untilListening(rayPort),
    });
    await head.start();
    const tokenFile = join(directory, 'token');
    await writeFile(tokenFile, 'a token of the tests');
    const launcher = new Session(
      python,
      [
        ...['-m', 'retrace.engine.on_ray', '--address', `127.0.0.1:${rayPort}`, '--nproc', `${processes}`],
        ...['--port', `${port}`, '--token-file', tokenFile, '--storage', join(directory, 'results')],
      ],
      environment,
    );
    const section = { kind: 'torch', url: `http://127.0.0.1:${port}`, tokenFile } as const;
    const cluster = new RayCluster(head, launcher, directory, section);
    try {
      await launcher.waitFor(/"event": ?"ready"/, START_TIMEOUT_MS);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** Process ids of the newest group of workers, by rank. */
  get ranks(): readonly number[] {
    const pids: number[] = [];
    for (const line of this.launcher.lines) {
      const found = /pid=(\d+)\) world_rank=(\d+)/.exec(line);
      if (found) pids[Number(found[2])] = Number(found[1]);
    }
    return pids;
  }

  async stop(): Promise<void> {
    await this.launcher.killTree();
    await this.head.stop();
    await rm(this.directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  }
}

/** Ray keeps its token in the home directory, and tells its makers of its use, unless it is told otherwise. */
function makeEnvironment(directory: string): Record<string, string> {
  const { PYTHONPATH = '' } = pythonVariables({});
  return {
    ...{ PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1', HOME: directory, RAY_USAGE_STATS_ENABLED: '0' },
    ...{ RAY_AUTH_MODE: 'token', RAY_AUTH_TOKEN: randomBytes(32).toString('hex') },
  };
}

export function untilListening(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}
