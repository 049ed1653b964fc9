import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../cli-error.js';
import type { LogStream } from './log-stream.js';
import { RestartPolicy, type RestartLimits } from './restart-policy.js';
import { RoleProcess, type ReadyMessage, type RoleExit } from './role-process.js';

/** What the supervisor must know about a role to start it, to watch it and to stop it. */
export interface RoleDefinition {
  readonly name: string;
  /** The program, started with Node. */
  readonly script: string;
  readonly nodeArguments?: readonly string[];
  /** Steps of priority (0 … 19) that its process stands behind the supervisor's (default 0). */
  readonly niceness?: number;
  /** Asked before each start, with what the first ready message said, so that a restarted server keeps its address. */
  readonly environment: (firstReady: ReadyMessage | null) => Readonly<Record<string, string>>;
  readonly readyTimeoutMs: number;
  /** The process is ended when it has been silent for so long: its event loop no longer turns. */
  readonly heartbeatTimeoutMs: number;
  /** After SIGTERM; then SIGKILL. */
  readonly stopTimeoutMs: number;
  /** An address that must answer 2xx while the role is healthy, given the ready message. */
  readonly healthUrl?: (ready: ReadyMessage) => string;
  /** Default 5,000. */
  readonly healthCheckEveryMs?: number;
  /** Whether exit code 0 means that the role's work is done. Asked when it exits so. */
  readonly mayFinish?: () => boolean;
  readonly restart?: RestartLimits;
  /** Roles of one group share a work: while one of them goes on, those that fail again and again are tried again for ever. */
  readonly group?: string;
}

export interface RoleOptions {
  readonly log: LogStream;
  readonly lockFileDescriptor: number | null;
  /** Called once, when the role has failed more often than its limits allow. */
  readonly onFailed: (error: CliError) => void;
  /** Whether others go on with what this role is a part of, so that it must not give up (default false). */
  readonly othersGoOn?: () => boolean;
}

type State = 'starting' | 'ready' | 'waiting' | 'stopping' | 'stopped' | 'finished' | 'failed';

const defaultHealthCheckEveryMs = 5_000;
const healthCheckTimeoutMs = 10_000;
const maxFailedHealthChecks = 4;

/** A supervised role: one process at a time, started again when it ends without being told to. */
export class Role {
  readonly name: string;
  private state: State = 'starting';
  private process: RoleProcess | null = null;
  private firstReady: ReadyMessage | null = null;
  private readyAt = 0;
  private lastSignOfLife = 0;
  private watchdog: NodeJS.Timeout | null = null;
  private numFailedHealthChecks = 0;
  private endedBySupervisor = '';
  private isExhausted = false;
  private readonly restartDelay = new AbortController();
  private readonly policy: RestartPolicy;
  private readonly ended: Promise<void>;
  private settleEnded!: () => void;
  private settleReady!: { resolve: (ready: ReadyMessage) => void; reject: (error: CliError) => void };

  constructor(
    private readonly definition: RoleDefinition,
    private readonly options: RoleOptions,
  ) {
    this.name = definition.name;
    this.policy = new RestartPolicy(definition.restart);
    this.ended = new Promise((resolve) => {
      this.settleEnded = resolve;
    });
  }

  get group(): string | undefined {
    return this.definition.group;
  }

  /** Whether it works, or may soon: it has not failed more often than its limits allow, or its present life is long enough. */
  get goesOn(): boolean {
    if (this.hasEnded()) return false;
    if (!this.isExhausted) return true;
    return this.state === 'ready' && Date.now() - this.readyAt >= this.policy.healthyAfterMs;
  }

  get pid(): number | undefined {
    return this.process?.pid;
  }

  /** Starts the process; resolves at its first ready message. @throws CliError `ROLE_FAILED` when it gives up before that. */
  start(): Promise<ReadyMessage> {
    const ready = new Promise<ReadyMessage>((resolve, reject) => {
      this.settleReady = { resolve, reject };
    });
    this.spawn();
    return ready;
  }

  /** Resolves when the role's last process is gone: stopped, finished or failed. */
  whenEnded(): Promise<void> {
    return this.ended;
  }

  /** SIGTERM, then SIGKILL after the role's stop timeout. Resolves when the process is gone. */
  async stop(): Promise<void> {
    if (this.process === null) {
      this.end('stopped');
      return;
    }
    this.state = 'stopping';
    this.process.signal('SIGTERM');
    const killTimer = setTimeout(() => {
      this.options.log.write({ role: this.name, level: 'warn', message: 'did not stop in time; killed' });
      this.kill();
    }, this.definition.stopTimeoutMs);
    await this.ended;
    clearTimeout(killTimer);
  }

  kill(): void {
    if (this.process === null) this.end('stopped');
    else this.state = 'stopping';
    this.process?.signal('SIGKILL');
  }

  private spawn(): void {
    const { definition, options } = this;
    this.state = 'starting';
    this.endedBySupervisor = '';
    this.numFailedHealthChecks = 0;
    this.readyAt = 0;
    this.lastSignOfLife = Date.now();
    this.process = new RoleProcess({
      role: definition.name,
      script: definition.script,
      nodeArguments: definition.nodeArguments ?? [],
      niceness: definition.niceness ?? 0,
      environment: definition.environment(this.firstReady),
      lockFileDescriptor: options.lockFileDescriptor,
      log: options.log,
      onMessage: (message) => {
        this.lastSignOfLife = Date.now();
        if (message.type === 'ready') this.becomeReady(message);
      },
      onExit: (exit) => {
        void this.handleExit(exit);
      },
    });
    this.watchdog = setInterval(() => {
      this.checkSignsOfLife();
    }, 500);
  }

  private becomeReady(ready: ReadyMessage): void {
    if (this.state !== 'starting') return;
    this.state = 'ready';
    this.readyAt = Date.now();
    this.firstReady ??= ready;
    this.settleReady.resolve(this.firstReady);
    const healthUrl = this.definition.healthUrl?.(ready);
    if (healthUrl !== undefined && this.process) void this.checkHealth(healthUrl, this.process);
  }

  private checkSignsOfLife(): void {
    const silentMs = Date.now() - this.lastSignOfLife;
    const { readyTimeoutMs, heartbeatTimeoutMs } = this.definition;
    if (this.state === 'starting' && silentMs > readyTimeoutMs) {
      this.endProcess(`was not ready within ${seconds(readyTimeoutMs)}`);
    } else if (this.state === 'ready' && silentMs > heartbeatTimeoutMs) {
      this.endProcess(`gave no sign of life for ${seconds(heartbeatTimeoutMs)}`);
    }
  }

  private async checkHealth(url: string, ofProcess: RoleProcess): Promise<void> {
    const { healthCheckEveryMs = defaultHealthCheckEveryMs } = this.definition;
    for (;;) {
      await sleep(healthCheckEveryMs, undefined, { ref: false });
      if (this.process !== ofProcess || this.state !== 'ready') return;
      this.numFailedHealthChecks = (await answers(url)) ? 0 : this.numFailedHealthChecks + 1;
      if (this.numFailedHealthChecks >= maxFailedHealthChecks) {
        if (this.process === ofProcess) this.endProcess(`failed ${maxFailedHealthChecks} health checks`);
        return;
      }
    }
  }

  private endProcess(why: string): void {
    if (this.endedBySupervisor !== '') return;
    this.endedBySupervisor = why;
    this.process?.signal('SIGKILL');
  }

  private async handleExit(exit: RoleExit): Promise<void> {
    if (this.watchdog) clearInterval(this.watchdog);
    this.process = null;
    const { definition, options } = this;
    if (this.state === 'stopping') {
      this.end('stopped');
      return;
    }
    if (exit.code === 0 && definition.mayFinish?.() === true) {
      this.end('finished');
      return;
    }
    const sentence = this.endedBySupervisor || exit.lastSentence || describeExit(exit);
    const limitedMs = this.policy.delayAfter({
      sentence,
      killed: exit.signal !== null && this.endedBySupervisor === '',
      healthyMs: this.readyAt === 0 ? 0 : Date.now() - this.readyAt,
    });
    this.isExhausted = limitedMs === null;
    const delayMs = limitedMs ?? (options.othersGoOn?.() === true ? this.policy.longestDelayMs : null);
    if (delayMs === null) {
      const error = new CliError('ROLE_FAILED', `${this.name} failed: ${sentence}`);
      this.settleReady.reject(error);
      this.end('failed');
      options.onFailed(error);
      return;
    }
    options.log.write({
      role: this.name,
      level: 'warn',
      message:
        limitedMs === null
          ? `fails again and again (${sentence}); starts again in ${seconds(delayMs)}, the others go on`
          : `${exit.lastSentence === '' ? sentence : describeExit(exit)}; starts again in ${seconds(delayMs)}`,
    });
    this.state = 'waiting';
    await sleep(delayMs, undefined, { signal: this.restartDelay.signal }).catch(() => undefined);
    if (!this.hasEnded()) this.spawn();
  }

  private hasEnded(): boolean {
    return this.state === 'stopped' || this.state === 'finished' || this.state === 'failed';
  }

  private end(state: 'stopped' | 'finished' | 'failed'): void {
    if (!this.hasEnded()) this.state = state;
    this.restartDelay.abort();
    this.settleReady.reject(new CliError('ROLE_FAILED', `${this.name} was stopped before it was ready`));
    this.settleEnded();
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(healthCheckTimeoutMs) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

function describeExit({ code, signal }: RoleExit): string {
  return signal === null ? `ended with exit code ${String(code)}` : `was ended by ${signal}`;
}

function seconds(ms: number): string {
  return `${String(ms / 1000)} s`;
}
