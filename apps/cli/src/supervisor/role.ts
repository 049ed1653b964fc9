import { setTimeout as sleep } from 'node:timers/promises';
import { FINAL_FAILURE_EXIT_CODE, type RunControlAnswer, type RunControlRequest } from '@retrace/process';
import { CliError } from '../cli-error.js';
import type { LogStream } from './log-stream.js';
import { RestartPolicy, type RestartLimits } from './restart-policy.js';
import {
  RoleProcess,
  type ReadyMessage,
  type RequestMessage,
  type RoleExit,
  type WarningMessage,
} from './role-process.js';

/** How to start, watch and stop a role. */
export interface RoleDefinition {
  readonly name: string;
  /** The program, started with Node. */
  readonly script: string;
  readonly nodeArguments?: readonly string[];
  /** How many steps of priority (0 … 19) its process is below the supervisor's (default 0). */
  readonly niceness?: number;
  /** Called before each start, with the first ready message, so that a restarted server keeps its address. */
  readonly environment: (firstReady: ReadyMessage | null) => Readonly<Record<string, string>>;
  readonly readyTimeoutMs: number;
  /** The process is killed after this time without a heartbeat: its event loop is blocked. */
  readonly heartbeatTimeoutMs: number;
  /** Time from SIGTERM to SIGKILL. */
  readonly stopTimeoutMs: number;
  /** Called with the address that the process listens on, before it is ready. */
  readonly onListening?: (url: string) => void;
  /** Answers what the process asks about the runs of this process tree; must not reject. */
  readonly onRequest?: (request: RunControlRequest) => Promise<RunControlAnswer>;
  /** An address that answers 2xx while the role is healthy, derived from the ready message. */
  readonly healthUrl?: (ready: ReadyMessage) => string;
  /** Default 5,000. */
  readonly healthCheckEveryMs?: number;
  /** Whether exit code 0 means that the role has finished its work. Called when the process exits with 0. */
  readonly mayFinish?: () => boolean;
  readonly restart?: RestartLimits;
  /** Roles of one group share their work: while one of them works, the others are restarted however often they fail. */
  readonly group?: string;
}

interface RoleOptions {
  readonly log: LogStream;
  readonly lockFileDescriptors: readonly number[];
  /** Called once, when the role has failed more often than its limits allow. */
  readonly onFailed: (error: CliError) => void;
  /** Whether other roles of its group still work, so that this one must not give up (default false). */
  readonly othersWork?: () => boolean;
  /** Whether others work that do not need it, so that it must not end them, even if it says that it will always end in the same way (default false). */
  readonly othersGoOn?: () => boolean;
}

type State = 'starting' | 'ready' | 'waiting' | 'stopping' | 'stopped' | 'finished' | 'failed';

const DEFAULT_HEALTH_CHECK_EVERY_MS = 5_000;
const HEALTH_CHECK_TIMEOUT_MS = 10_000;
const MAX_FAILED_HEALTH_CHECKS = 4;

/** A supervised role: one process at a time, restarted when it ends by itself. */
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

  /** Whether the role works or may work soon: its failures are within the limits, or its current process has lived long enough. */
  get works(): boolean {
    if (this.hasEnded()) return false;
    if (!this.isExhausted) return true;
    return this.state === 'ready' && performance.now() - this.readyAt >= this.policy.healthyAfterMs;
  }

  get pid(): number | undefined {
    return this.process?.pid;
  }

  /**
   * Starts the process; resolves at its first ready message.
   *
   * @throws CliError `ROLE_FAILED` when the role gives up before that
   */
  start(): Promise<ReadyMessage> {
    const ready = new Promise<ReadyMessage>((resolve, reject) => {
      this.settleReady = { resolve, reject };
    });
    this.spawn();
    return ready;
  }

  /** Resolves when the role's last process has ended: stopped, finished or failed. */
  whenEnded(): Promise<void> {
    return this.ended;
  }

  /** Sends SIGTERM, then SIGKILL after the role's stop timeout. Resolves when the process has ended. */
  async stop(): Promise<void> {
    if (this.process === null) {
      this.end('stopped');
      return;
    }
    this.state = 'stopping';
    this.process.signal('SIGTERM');
    const killTimer = setTimeout(() => {
      this.options.log.write({
        role: this.name,
        level: 'warn',
        message: 'did not stop in time and was killed',
      });
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
    this.lastSignOfLife = performance.now();
    this.process = new RoleProcess({
      role: definition.name,
      script: definition.script,
      nodeArguments: definition.nodeArguments ?? [],
      niceness: definition.niceness ?? 0,
      environment: definition.environment(this.firstReady),
      lockFileDescriptors: options.lockFileDescriptors,
      log: options.log,
      onMessage: (message) => {
        this.lastSignOfLife = performance.now();
        if (message.type === 'listening') definition.onListening?.(message.url);
        if (message.type === 'ready') this.becomeReady(message);
        if (message.type === 'warning') this.showWarning(message);
        if (message.type === 'request') void this.answer(message, this.process);
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
    this.readyAt = performance.now();
    this.firstReady ??= ready;
    this.settleReady.resolve(this.firstReady);
    const healthUrl = this.definition.healthUrl?.(ready);
    if (healthUrl !== undefined && this.process) void this.checkHealth(healthUrl, this.process);
  }

  private async answer({ id, request }: RequestMessage, process: RoleProcess | null): Promise<void> {
    const answer = await this.definition.onRequest?.(request);
    if (answer !== undefined) process?.send({ type: 'answer', id, answer });
  }

  private showWarning({ severity, message }: WarningMessage): void {
    const level = severity === 'alarm' ? 'error' : 'warn';
    this.options.log.write({ role: this.name, level, message, isRecorded: true });
  }

  private checkSignsOfLife(): void {
    const silentMs = performance.now() - this.lastSignOfLife;
    const { readyTimeoutMs, heartbeatTimeoutMs } = this.definition;
    if (this.state === 'starting' && silentMs > readyTimeoutMs) {
      this.endProcess(`was not ready within ${seconds(readyTimeoutMs)}`);
    } else if (this.state === 'ready' && silentMs > heartbeatTimeoutMs) {
      this.endProcess(`did not respond for ${seconds(heartbeatTimeoutMs)}`);
    }
  }

  private async checkHealth(url: string, ofProcess: RoleProcess): Promise<void> {
    const { healthCheckEveryMs = DEFAULT_HEALTH_CHECK_EVERY_MS } = this.definition;
    for (;;) {
      await sleep(healthCheckEveryMs, undefined, { ref: false });
      if (this.process !== ofProcess || this.state !== 'ready') return;
      this.numFailedHealthChecks = (await answers(url)) ? 0 : this.numFailedHealthChecks + 1;
      if (this.numFailedHealthChecks >= MAX_FAILED_HEALTH_CHECKS) {
        if (this.process === ofProcess) this.endProcess(`failed ${MAX_FAILED_HEALTH_CHECKS} health checks`);
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
    const isFinal = exit.code === FINAL_FAILURE_EXIT_CODE;
    const limitedMs = this.policy.delayAfter({
      sentence,
      killed: exit.signal !== null && this.endedBySupervisor === '',
      isFinal,
      healthyMs: this.readyAt === 0 ? 0 : performance.now() - this.readyAt,
    });
    this.isExhausted = limitedMs === null;
    const canWait = options.othersGoOn?.() === true || (!isFinal && options.othersWork?.() === true);
    const delayMs = limitedMs ?? (canWait ? this.policy.longestDelayMs : null);
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
          ? `keeps failing (${sentence}); restarting in ${seconds(delayMs)} while the others continue`
          : `${exit.lastSentence === '' ? sentence : describeExit(exit)}; restarting in ${seconds(delayMs)}`,
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
    const response = await fetch(url, { signal: AbortSignal.timeout(HEALTH_CHECK_TIMEOUT_MS) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

function describeExit({ code, signal }: RoleExit): string {
  return signal === null ? `ended with exit code ${code ?? 'unknown'}` : `was killed by ${signal}`;
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
