import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ComputeError } from '@retrace/compute';
import { PolicyError } from '@retrace/policy';
import { TrainerError } from '../trainer-error.js';
import type { FromWorker, ToWorker } from './worker-protocol.js';

/** The compiled worker, also where the trainer itself runs from its sources. In a bundle it is the program `gradients` (`scripts/bundle-programs.mjs`). */
const script = fileURLToPath(new URL('../../dist/data-parallel/worker-main.js', import.meta.url));

interface WorkerProcessOptions {
  /** From 1; the trainer itself is 0. */
  readonly rank: number;
  readonly environment: NodeJS.ProcessEnv;
  readonly exchangeDescriptor: number;
}

/** One worker process, as its trainer sees it: a request at a time, each with one answer. */
export class WorkerProcess {
  private readonly child: ChildProcess;
  private pending: {
    readonly resolve: (answer: FromWorker) => void;
    readonly reject: (error: Error) => void;
  } | null = null;
  private lastLine = '';
  /** How the process ended; null while it runs. */
  private ending: string | null = null;

  constructor(private readonly options: WorkerProcessOptions) {
    this.child = spawn(process.execPath, [script], {
      env: options.environment,
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'pipe', 'ipc', options.exchangeDescriptor],
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.lastLine = text.trimEnd().split('\n').pop() || this.lastLine;
      process.stderr.write(text);
    });
    this.child.on('message', (answer: FromWorker) => {
      this.settle((pending) => {
        pending.resolve(answer);
      });
    });
    this.child.once('error', (error) => {
      this.end(error.message);
    });
    this.child.once('exit', (code, signal) => {
      const said = this.lastLine === '' ? '' : ` (${this.lastLine})`;
      this.end(
        signal === null ? `it ended with code ${code ?? 'unknown'}${said}` : `it was ended by ${signal}`,
      );
    });
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  get hasEnded(): boolean {
    return this.ending !== null;
  }

  /**
   * @throws TrainerError `WORKER_LOST` when the process ends before it answers
   * @throws ComputeError, PolicyError what its computation threw
   */
  async request(message: ToWorker): Promise<Exclude<FromWorker, { type: 'failed' }>> {
    const answer = await new Promise<FromWorker>((resolve, reject) => {
      this.pending = { resolve, reject };
      if (this.ending !== null) {
        this.end(this.ending);
        return;
      }
      this.child.send(message, (error) => {
        if (error) this.end(error.message);
      });
    });
    if (answer.type !== 'failed') return answer;
    const sentence = `data parallel worker ${this.options.rank}: ${answer.message}`;
    if (answer.failure?.thrownBy === 'compute') throw new ComputeError(answer.failure.code, sentence);
    if (answer.failure?.thrownBy === 'policy') throw new PolicyError(answer.failure.code, sentence);
    throw new TrainerError('WORKER_LOST', sentence);
  }

  /** Resolves when the process is gone. */
  stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return Promise.resolve();
    const gone = new Promise<void>((resolve) => this.child.once('exit', () => resolve()));
    this.child.kill('SIGKILL');
    return gone;
  }

  private end(how: string): void {
    this.ending = how;
    this.settle(({ reject }) => {
      reject(
        new TrainerError(
          'WORKER_LOST',
          `data parallel worker ${this.options.rank}, process ${this.pid}: ${how}`,
        ),
      );
    });
  }

  private settle(how: (pending: NonNullable<WorkerProcess['pending']>) => void): void {
    const { pending } = this;
    this.pending = null;
    if (pending !== null) how(pending);
  }
}
