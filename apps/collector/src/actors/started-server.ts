import {
  ServiceClient,
  VllmAdapters,
  type ConfirmedWeights,
  type EngineOptions,
  type WeightDelivery,
  type DeliveredWeights,
} from '@retrace/endpoints';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProcessError, ServerProcess } from '@retrace/process';

const RESTART_PAUSE_MS = 5_000;

interface StartedServerOptions {
  /** Program and arguments; `{port}`, `{model}` and `{name}` are replaced. */
  readonly command: readonly string[];
  readonly port: number;
  readonly startTimeoutMs: number;
  readonly engine: EngineOptions;
  /** Called when a server ended by itself, and when one could not be started again. */
  readonly onWarning: (message: string) => void;
}

/** A server of a model that Retrace starts, and starts again for other weights: it can load weights at its start only. */
export class StartedServer implements WeightDelivery {
  readonly form = 'model';
  readonly turnsUnderWay = 'ended';
  readonly lossShows = 'inTurns';
  private process: ServerProcess | null = null;
  private isClosed = false;
  private readonly models: VllmAdapters;

  constructor(private readonly options: StartedServerOptions) {
    const { port, engine } = options;
    const url = `http://127.0.0.1:${port}`;
    // A separate client, since a server that is starting is asked many times without an answer.
    const service = new ServiceClient({ url, concurrency: 1, maxFailuresInARow: Infinity });
    this.models = new VllmAdapters(service, { ...engine, maxRetries: 0 });
  }

  /**
   * Serves the model of a directory under its name, in place of the one before.
   *
   * @throws ProcessError `SERVER_FAILED` when the server ends or does not answer in time, with its last lines; after `close`
   */
  async deliver({ directory, name }: DeliveredWeights): Promise<ConfirmedWeights> {
    await this.stop();
    if (this.isClosed)
      throw new ProcessError(
        'SERVER_FAILED',
        `the server of the policy at port ${this.options.port} is not started for ${name}: the run has closed it`,
      );
    const { command, port, startTimeoutMs } = this.options;
    const values = { model: directory, name };
    this.process = new ServerProcess({
      command: command.map((part) =>
        part.replaceAll(/\{(model|name)\}/g, (_, key: 'model' | 'name') => values[key]),
      ),
      directory: undefined,
      port,
      startTimeoutMs,
      check: (_, signal) => this.requireModel(name, signal),
      onEnd: (lastLines) => void this.startAgain(lastLines),
    });
    await this.process.start();
    return { version: name, model: name };
  }

  /** It serves one model, and no other under its name. */
  serving(name: string): Promise<string | null> {
    return Promise.resolve(name);
  }

  /** Nothing: the process that served an older version has ended. */
  retire(): Promise<void> {
    return Promise.resolve();
  }

  /** Ends the server and all its processes. */
  async stop(): Promise<void> {
    const { process } = this;
    this.process = null;
    await process?.stop();
  }

  /** Ends the server for good: later deliveries fail. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.stop();
  }

  /** Turns that are under way wait for the restart. What the server needs, such as GPU memory, may be free only later. */
  private async startAgain(lastLines: readonly string[]): Promise<void> {
    const { onWarning, port } = this.options;
    const { process } = this;
    onWarning(
      `the server of the policy at port ${port} ended, and is started again; it said: ${lastLines.join(' | ')}`,
    );
    while (process !== null && this.process === process) {
      try {
        await process.restart();
        return;
      } catch (error) {
        // It may have been stopped meanwhile.
        if (this.process !== process) return;
        onWarning(error instanceof Error ? error.message : String(error));
        await sleep(RESTART_PAUSE_MS, undefined, { ref: false });
      }
    }
  }

  private async requireModel(name: string, signal: AbortSignal): Promise<void> {
    const names = await this.models.names(signal);
    if (!names.includes(name)) throw new Error(`it serves ${names.join(', ')}, not ${name}`);
  }
}
