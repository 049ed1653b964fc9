import { setTimeout as sleep } from 'node:timers/promises';
import type { GenerationRequest, LogprobMode } from '@retrace/chat';
import { EndpointError, findLogprobMode } from '@retrace/endpoints';
import { orAborted } from '@retrace/log';
import type { PolicyText } from '@retrace/policy';
import { CollectorError } from '../collector-error.js';
import type { ServedTurn } from './endpoint-actor.js';
import type { OpenedServer } from './open-server.js';
import type { ServedPolicies } from './served-policies.js';
import type { WatchedEngine } from './watched-engine.js';
import type { DeliveredPolicy } from './served-weights.js';

/** Turns under way at a server that is left out stay there for so many pauses, as it may have failed only once. */
const GRACE_PAUSES = 3;

interface PolicyServerOptions {
  readonly server: OpenedServer;
  /** Brings policies to it, and knows which it has. */
  readonly policies: ServedPolicies;
  readonly engine: WatchedEngine;
  readonly text: PolicyText;
  /** Called when it is left out, with the reason. */
  readonly onLeftOut: (reason: string) => void;
  /** Called when it is left out, is found to be down for longer, answers again, or has another policy. */
  readonly onChange: (server: PolicyServer) => void;
  /** Called for each attempt in the background at a policy version that failed. */
  readonly onDelay: (policyVersion: number, reason: string) => void;
  /** Pause before a server that is left out, or that did not take its weights, is tried again. */
  readonly tryAgainMs: number;
  readonly signal: AbortSignal;
}

/** One of the servers that sample, with what is known of it. It is left out while it is down, and until it has the policy of the others. */
export class PolicyServer {
  private mode: LogprobMode | null;
  private describedAs: string | null = null;
  private wanted: DeliveredPolicy | null = null;
  /** Name of the weights of a delivery under way. */
  private bringing: string | null = null;
  private lasting: CollectorError | EndpointError | null = null;
  private isCatchingUp = false;
  private work: Promise<unknown> = Promise.resolve();
  private readonly turns = new Set<AbortController>();
  /** Aborts when it is left out, with the reason. */
  private out = new AbortController();
  private isDown = false;
  /** Turns that were begun here. */
  numTurns = 0;
  numUnderWay = 0;

  constructor(private readonly options: PolicyServerOptions) {
    this.mode = options.server.logprobMode;
  }

  get url(): string {
    return this.options.server.url;
  }

  get isLeftOut(): boolean {
    return this.out.signal.aborted;
  }

  /** null where it is not left out. */
  get leftOutReason(): string | null {
    return this.isLeftOut ? `${this.out.signal.reason}` : null;
  }

  /** The error of a delivery or a check that no other attempt mends, of this server: the run can't go on. */
  get fault(): CollectorError | EndpointError | null {
    return this.lasting;
  }

  /** Of which distribution its logprobs are; null before it has a policy. */
  get logprobMode(): LogprobMode | null {
    return this.mode;
  }

  /** Name and version of the server's program; null before it was asked. */
  get description(): string | null {
    return this.describedAs;
  }

  /** The newest version that turns are sampled by; null before it has one, and its logprobs are known. */
  get version(): number | null {
    return this.mode === null || this.options.policies.names.length === 0
      ? null
      : this.options.policies.newest.policyVersion;
  }

  /** Names of the weights that it serves, or is to serve. */
  get names(): readonly string[] {
    const coming = [this.bringing, this.wanted?.name].filter((name) => name != null);
    return [...this.options.policies.names, ...coming];
  }

  /** Asks for its name and version. @throws EndpointError when it does not answer */
  async describe(): Promise<string> {
    this.describedAs ??= await this.options.engine.describe(this.options.signal);
    return this.describedAs;
  }

  /**
   * Brings a policy version to it. Turns that begin later are sampled by it.
   *
   * @throws as `ServedPolicies.serve`, after the first attempt
   */
  async serve(policy: DeliveredPolicy): Promise<void> {
    this.wanted = policy;
    const attempt = this.work.then(async () => {
      // Of versions that wait for one before, only the newest is worth bringing.
      if (this.wanted === policy) await this.bring(policy);
    });
    this.work = attempt.catch(() => undefined);
    await attempt;
  }

  /** Tries in the background until it has the newest version that it was to get. */
  async catchUp(): Promise<void> {
    if (this.isCatchingUp) return;
    this.isCatchingUp = true;
    const { signal, onDelay, tryAgainMs } = this.options;
    while (this.isBehind && this.lasting === null) {
      await sleep(tryAgainMs, undefined, { signal, ref: false }).catch(() => undefined);
      // A newer one may have come during the pause.
      const { wanted } = this;
      if (signal.aborted || wanted === null) break;
      try {
        await this.serve(wanted);
      } catch (error) {
        if (!signal.aborted) onDelay(wanted.policyVersion, (error as Error).message);
      }
    }
    this.isCatchingUp = false;
  }

  /** Aborts when it is left out. */
  get leftOut(): AbortSignal {
    return this.out.signal;
  }

  /** Gives it no turns until it answers and has its weights. */
  leaveOut(reason: string): void {
    if (this.isLeftOut || this.options.signal.aborted) return;
    this.out.abort(reason);
    this.options.onLeftOut(reason);
    this.options.onChange(this);
    void this.tryAgain();
  }

  /** Samples a turn; null where it was moved away meanwhile. @throws as `TurnSampler.sample` */
  async sampleUnlessMoved(
    request: Omit<GenerationRequest, 'model'>,
    ended: AbortSignal,
  ): Promise<ServedTurn | null> {
    const turn = new AbortController();
    const end = () => {
      turn.abort(ended.reason);
    };
    ended.addEventListener('abort', end);
    if (ended.aborted) end();
    this.turns.add(turn);
    try {
      return await orAborted(this.sample(request, turn.signal), turn.signal);
    } catch (error) {
      if (turn.signal.aborted && !ended.aborted) return null;
      if (error instanceof CollectorError) {
        this.keep(error);
        this.leaveOut(error.message);
      }
      throw error;
    } finally {
      this.turns.delete(turn);
      ended.removeEventListener('abort', end);
      ended.throwIfAborted();
    }
  }

  /** Samples a turn. @throws as `TurnSampler.sample` */
  async sample(request: Omit<GenerationRequest, 'model'>, ended: AbortSignal): Promise<ServedTurn> {
    const { model, policyVersion } = this.options.policies.newest;
    if (this.mode === null) throw new TypeError('the server has no policy whose logprobs are known');
    const logprobMode = this.mode;
    this.numTurns++;
    this.numUnderWay++;
    try {
      const generated = await this.options.engine.generate({ ...request, model }, ended);
      return { generated, policyVersion, logprobMode };
    } finally {
      this.numUnderWay--;
    }
  }

  /** Has the turns that wait here go to another server, where it is down. */
  moveTurns(): void {
    if (this.isDown) for (const turn of this.turns) turn.abort();
  }

  /** Unloads the adapters from it unless it is left out, and stops it where Retrace started it. */
  async close(): Promise<void> {
    if (!this.isLeftOut) await this.options.policies.close();
    await this.options.server.close();
    await this.work;
  }

  private get isBehind(): boolean {
    return this.wanted !== null && this.wanted.policyVersion !== this.version;
  }

  private async bring(policy: DeliveredPolicy): Promise<void> {
    const { policies, engine, text, signal, onChange } = this.options;
    signal.throwIfAborted();
    this.bringing = policy.name;
    try {
      await policies.serve(policy, () => this.wanted === policy);
      // Skipped, since a newer one came before it began.
      if (policies.names.length === 0) return;
      await this.describe();
      this.mode ??= await findLogprobMode(engine, policies.newest.model, probes(text));
    } catch (error) {
      this.keep(error);
      throw error;
    } finally {
      this.bringing = null;
    }
    onChange(this);
  }

  private async tryAgain(): Promise<void> {
    const { engine, policies, signal, onChange, tryAgainMs } = this.options;
    const grace = setTimeout(() => {
      this.isDown = true;
      onChange(this);
    }, GRACE_PAUSES * tryAgainMs).unref();
    for (let isUp = false; !isUp;) {
      try {
        await sleep(tryAgainMs, undefined, { signal, ref: false });
        await engine.describe(signal);
        await policies.confirm();
        isUp = true;
      } catch (error) {
        this.keep(error);
        if (signal.aborted || this.lasting !== null) return;
      }
    }
    clearTimeout(grace);
    this.isDown = false;
    this.out = new AbortController();
    onChange(this);
  }

  private keep(error: unknown): void {
    if (isLasting(error)) this.lasting ??= error;
  }
}

/** Whether a server computes with other weights than it was given, or can't take any as it was started. */
export function isLasting(error: unknown): error is CollectorError | EndpointError {
  if (error instanceof CollectorError) return error.code === 'WEIGHTS_DIFFER';
  return error instanceof EndpointError && ['UNSUPPORTED', 'INVALID_SETTING'].includes(error.code);
}

/** Contexts in which a model is seldom certain. */
export function probes({ tokenizer }: PolicyText): number[][] {
  return ['a', 'The', '1 2', 'Hello world'].map((text) => Array.from(tokenizer.encode(text)));
}
