import { setImmediate as nextTurn } from 'node:timers/promises';
import { EndpointError, type DeliveredWeights, type WeightDelivery } from '@retrace/endpoints';
import { CollectorError } from '../collector-error.js';
import { servedName, type ServedPolicy } from './endpoint-actor.js';
import type { PausableEngine } from './pausable-engine.js';
import type { WeightCheck } from './weight-check.js';
import type { DeliveredPolicy, ServedWeights } from './served-weights.js';

interface ServedPoliciesOptions {
  readonly runId: string;
  readonly files: Pick<ServedWeights, 'filesOf'>;
  readonly delivery: WeightDelivery;
  /** The engine, which some deliveries pause, as no turn may be under way while weights change. */
  readonly pausable: PausableEngine;
  /** Null where the recipe turns it off. */
  readonly check: WeightCheck | null;
  /** Called when the server had lost the newest weights and has them again. */
  readonly onLoss: (policyVersion: number) => void;
  /** Called for weights that the server says it has but does not compute with. */
  readonly onDiffer: (message: string) => void;
  /** Whether this is the only process that uses the server for the run, so that its adapters can be unloaded at the end. */
  readonly isAlone: boolean;
  readonly signal: AbortSignal;
}

/** A policy that the server has, as it was delivered. */
type NamedPolicy = ServedPolicy & Pick<DeliveredPolicy, 'name' | 'location'>;

/** Longest time to unload weights at the end. */
const RETIRE_MS = 5_000;
/** Attempts at one delivery. */
const MAX_DELIVERIES = 3;

/**
 * Brings policy versions to the server that samples, checks that it computes with them, brings them again to one that lost them, and unloads old
 * ones.
 */
export class ServedPolicies {
  private readonly served: NamedPolicy[] = [];
  /** Times that the server was found without the weights that it was given. */
  private numLosses = 0;
  private found: string | null = null;
  /** One thing at a time is asked of the server, or changed in it. */
  private work: Promise<unknown> = Promise.resolve();
  /** A question that was not sent yet: all callers that wait for its answer share it. */
  private question: Deferred | null = null;
  /** Whether the weights that were brought again have been checked. */
  private isChecked = true;

  constructor(private readonly options: ServedPoliciesOptions) {}

  /** The state of the server, as far as it is known: a turn was sampled by these weights if the state is the same before and, confirmed, after it. */
  get state(): string {
    return `${this.numLosses} ${this.found ?? ''}`;
  }

  /** Name of the weights that the server was last found to have; null before the first delivery. */
  get foundName(): string | null {
    return this.found;
  }

  /** Whether weights that a server names are of this run. */
  isOfRun(name: string): boolean {
    return name.startsWith(servedName(this.options.runId, 0).slice(0, -1));
  }

  /**
   * Asks the server which weights it has, after all answers that it has given so far. One that has none of this run, as after a restart, gets the newest again, and they are
   * checked.
   *
   * @throws as `serve`
   */
  confirm(): Promise<void> {
    if (this.question === null) {
      this.question = deferred();
      void this.exclusively(() => this.answer(() => this.restore()));
    }
    return this.question.promise;
  }

  /** Whether a turn must be confirmed although it names the right weights, because the server was not yet found to compute with them. */
  get isInDoubt(): boolean {
    return !this.isChecked;
  }

  /** The newest version that the server has said it serves. */
  get newest(): ServedPolicy {
    const newest = this.served.at(-1);
    if (newest === undefined) throw new Error('the server serves no policy version yet');
    return newest;
  }

  /** Names of the weights that turns under way or begun now ask for, the newest last. */
  get names(): readonly string[] {
    return this.served.map(({ name }) => name);
  }

  /**
   * Brings weights to the server, unless it has them, and waits until the server says so and its logprobs are those of the policy. The version
   * before stays, as turns under way need it.
   *
   * @param isWanted whether it is the newest even when its turn has come, else it is not brought (default: it is)
   * @throws EndpointError when the server refuses; CollectorError `WEIGHTS_DIFFER`
   */
  async serve(policy: DeliveredPolicy, isWanted: () => boolean = () => true): Promise<void> {
    const { delivery, pausable } = this.options;
    // A newer one may have come while turns ended, or while the server was asked.
    const change = async () => {
      if (isWanted()) await this.change(policy);
    };
    await this.exclusively(async () => {
      if (this.served.at(-1)?.policyVersion === policy.policyVersion) return;
      await (delivery.turnsUnderWay === 'ended' ? pausable.whilePaused(change) : change());
      while (this.served.length > 2) await this.drop();
    });
  }

  /** Unloads all weights from a server that keeps several. A server that does not answer keeps them. */
  async close(): Promise<void> {
    const { delivery, isAlone } = this.options;
    if (delivery.form === 'model' || (delivery.form === 'adapter' && !isAlone)) return;
    const signal = AbortSignal.timeout(RETIRE_MS);
    await Promise.allSettled(this.served.map(({ name }) => delivery.retire(name, signal)));
  }

  /**
   * Delivers again where the server lost the weights by a restart meanwhile, which can show as any failure of the delivery or of the check after it.
   */
  private async untilTaken<T>({ name }: DeliveredWeights, deliver: () => Promise<T>): Promise<T> {
    const { delivery, signal } = this.options;
    for (let numLeft = MAX_DELIVERIES - 1; ; numLeft--) {
      try {
        return await deliver();
      } catch (error) {
        signal.throwIfAborted();
        const isLast = numLeft === 0 || !isOfServer(error);
        const differs = error instanceof CollectorError;
        if (!isLast && !(differs && (await delivery.serving(name, signal)) === name)) continue;
        if (differs) this.options.onDiffer(error.message);
        throw error;
      }
    }
  }

  private exclusively<T>(task: () => Promise<T>): Promise<T> {
    const done = this.work.then(task);
    this.work = done.catch(() => undefined);
    return done;
  }

  /** Answers those who wait for it, if any do. */
  private async answer(ask: () => Promise<void>): Promise<void> {
    const { question } = this;
    this.question = null;
    try {
      await ask();
      question?.resolve();
    } catch (error) {
      question?.reject(error);
    }
  }

  private async restore(): Promise<void> {
    const { pausable, onLoss } = this.options;
    const newest = this.served.at(-1);
    if (newest === undefined) return;
    if ((await this.hasWeights()) && this.isChecked) return;
    this.isChecked = false;
    await pausable.whileHeld(() => this.bringAgain(newest));
    this.isChecked = true;
    onLoss(newest.policyVersion);
  }

  private async bringAgain(newest: NamedPolicy): Promise<void> {
    const { delivery, check, signal } = this.options;
    const files = this.options.files.filesOf(newest);
    await this.untilTaken(files, async () => {
      await delivery.deliver(files, signal);
      await check?.requireAgain({ model: newest.model, signal });
    });
    this.found = newest.name;
    await this.bringOlder();
  }

  /** Turns that began before a change of adapters ask for those before; another collector may have unloaded them. */
  private async bringOlder(): Promise<void> {
    const { delivery, signal } = this.options;
    if (delivery.form === 'model') return;
    for (const older of this.served.slice(0, -1))
      await delivery.deliver(this.options.files.filesOf(older), signal).catch(() => undefined);
  }

  /** Asks about all weights that turns under way may name. Another collector of the run may have brought later weights meanwhile. */
  private async hasWeights(): Promise<boolean> {
    const { delivery, signal } = this.options;
    for (const { name } of delivery.form === 'model' ? this.served.slice(-1) : this.served) {
      const found = await delivery.serving(name, signal);
      if (found === null || !this.isOfRun(found)) {
        this.numLosses++;
        return false;
      }
      this.found = found;
    }
    return true;
  }

  private async change(policy: DeliveredPolicy): Promise<void> {
    const { delivery, check, signal } = this.options;
    const { policyVersion, name, location } = policy;
    const files = this.options.files.filesOf(policy);
    // Answers since the last question may have come from a server that had lost its weights.
    let isLost = false;
    const ask = async () => {
      isLost = !(await this.hasWeights());
    };
    if (delivery.lossShows === 'inTurns') await ask();
    else {
      // The turns that have just ended wait for this answer. If it came after the change, they would be requested again.
      await nextTurn();
      await this.answer(ask);
    }
    const confirmed = await this.untilTaken(files, async () => {
      const taken = await delivery.deliver(files, signal);
      await check?.require(policy, { model: taken.model, signal });
      return taken;
    });
    this.found = name;
    this.isChecked = true;
    this.served.push({ policyVersion, model: confirmed.model, name, location });
    if (!isLost) return;
    await this.bringOlder();
    this.options.onLoss(policyVersion);
  }

  private async drop(): Promise<void> {
    const { delivery, signal } = this.options;
    const oldest = this.served.shift();
    if (oldest === undefined) return;
    await delivery.retire(oldest.name, signal);
  }
}

interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

function deferred(): Deferred {
  let resolve = (): void => undefined;
  let reject: Deferred['reject'] = () => undefined;
  const promise = new Promise<void>((isDone, hasFailed) => {
    resolve = isDone;
    reject = hasFailed;
  });
  return { promise, resolve, reject };
}

/** Whether the fault is the server's, so that a restarted one may succeed. */
function isOfServer(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isOfServer);
  if (error instanceof CollectorError) return error.code === 'WEIGHTS_DIFFER';
  return error instanceof EndpointError && error.code !== 'UNSUPPORTED' && error.code !== 'INVALID_SETTING';
}
