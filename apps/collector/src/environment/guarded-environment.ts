import { Changes } from '@retrace/client';
import type {
  Environment,
  EnvironmentSpec,
  Observation,
  ResetOptions,
  SampledTask,
  StepResult,
} from '@retrace/environments';
import { readObservation, readSampledTask, readStepResult } from './environment-answer.js';

/** A checked answer of an environment with what was changed to make it storable, or why there is none, in words. */
export type Answer<T> =
  | { readonly ok: true; readonly value: T; readonly changes?: readonly string[] }
  | { readonly ok: false; readonly failure: string };

interface Question<T> {
  readonly name: 'reset' | 'step' | 'reseed';
  readonly limit: 'resetTimeoutMs' | 'stepTimeoutMs';
  /** @throws Error for an answer that breaks a rule */
  readonly read: (answer: unknown, maxCharacters: number, changes: Changes) => T;
}

export interface AnswerLimits {
  readonly resetTimeoutMs: number;
  readonly stepTimeoutMs: number;
  /** Most characters of all texts of one answer (default 1,048,576). */
  readonly maxCharacters?: number;
}

const DEFAULT_MAX_CHARACTERS = 2 ** 20;

const MAX_MESSAGE_CHARACTERS = 300;
const LATE = Symbol('late');

const RESET: Question<Observation> = { name: 'reset', limit: 'resetTimeoutMs', read: readObservation };
const STEP: Question<StepResult> = { name: 'step', limit: 'stepTimeoutMs', read: readStepResult };
const RESEED: Question<undefined> = { name: 'reseed', limit: 'stepTimeoutMs', read: () => undefined };

/**
 * Asks an environment that may throw, answer late, or answer nonsense. All of these are values here, never rejections. The instance is made on first
 * use, and again after a failure, since a failed one may be in any state; what it still answers is discarded. An environment that blocks the thread
 * can't be interrupted.
 */
export class GuardedEnvironment {
  private environment: Environment | null = null;

  constructor(
    private readonly spec: Pick<EnvironmentSpec, 'create'>,
    private readonly limits: AnswerLimits,
  ) {}

  /** The instance that plays, for agents that read its hidden state. */
  get instance(): Environment {
    return (this.environment ??= this.spec.create());
  }

  /** Answers directly where the environment does. Its time counts from when the environment is ready. */
  reset(options: ResetOptions): Answer<Observation> | Promise<Answer<Observation>> {
    try {
      const { instance } = this;
      const reset = () => {
        if (this.environment !== instance) return this.fail('reset came after the environment was closed');
        return this.ask(RESET, () => instance.reset(options));
      };
      const ready = instance.ready?.();
      return ready === undefined ? reset() : ready.then(reset, this.failReset);
    } catch (error) {
      return this.failReset(error);
    }
  }

  /** Answers directly where the environment does. */
  step(action: string): Answer<StepResult> | Promise<Answer<StepResult>> {
    return this.ask(STEP, () => this.instance.step(action));
  }

  /** Makes the environment draw its chance from another seed from now on; does nothing where it can't. */
  reseed(seed: number): Answer<undefined> | Promise<Answer<undefined>> {
    return this.ask(RESEED, () => this.instance.reseed?.(seed));
  }

  /** Gives the instance up without waiting for it. */
  close(): void {
    const { environment } = this;
    this.environment = null;
    if (environment === null) return;
    // In a promise, so that it does not matter how the environment fails to close.
    void Promise.resolve()
      .then(() => environment.close())
      .catch(() => undefined);
  }

  private ask<T>(question: Question<T>, call: () => unknown): Answer<T> | Promise<Answer<T>> {
    try {
      const answer = call();
      return isThenable(answer) ? this.inTime(question, answer) : this.check(question, answer);
    } catch (error) {
      return this.fail(`${question.name} threw "${describeThrown(error)}"`);
    }
  }

  private async inTime<T>(question: Question<T>, pending: PromiseLike<unknown>): Promise<Answer<T>> {
    const { name, limit } = question;
    const timeoutMs = this.limits[limit];
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<typeof LATE>((resolve) => {
      // After a pause of the whole process its timers run before its connections: an answer that came meanwhile still counts.
      timer = setTimeout(() => setImmediate(resolve, LATE), timeoutMs);
    });
    try {
      const answer = await Promise.race([pending, late]);
      if (answer === LATE) return this.fail(`${name} did not answer within ${timeoutMs} ms`);
      return this.check(question, answer);
    } catch (error) {
      return this.fail(`${name} threw "${describeThrown(error)}"`);
    } finally {
      clearTimeout(timer);
    }
  }

  private check<T>({ name, read }: Question<T>, answer: unknown): Answer<T> {
    try {
      return answered(read, answer, this.limits.maxCharacters ?? DEFAULT_MAX_CHARACTERS);
    } catch (error) {
      return this.fail(`${name} gave an invalid answer: ${describeThrown(error)}`);
    }
  }

  private readonly failReset = (error: unknown) => this.fail(`reset threw "${describeThrown(error)}"`);

  private fail(failure: string): { readonly ok: false; readonly failure: string } {
    this.close();
    return { ok: false, failure };
  }
}

/** Samples a task from an environment that may throw or answer nonsense; both are values, as with `GuardedEnvironment`. */
export function sampleTask(
  spec: Pick<EnvironmentSpec, 'sampleTask'>,
  options: Parameters<EnvironmentSpec['sampleTask']>[0],
  { maxCharacters = DEFAULT_MAX_CHARACTERS }: Pick<AnswerLimits, 'maxCharacters'> = {},
): Answer<SampledTask> {
  let answer: unknown;
  try {
    answer = spec.sampleTask(options);
  } catch (error) {
    return { ok: false, failure: `sampleTask threw "${describeThrown(error)}"` };
  }
  try {
    return answered(readSampledTask, answer, maxCharacters);
  } catch (error) {
    return { ok: false, failure: `sampleTask gave an invalid answer: ${describeThrown(error)}` };
  }
}

/** @throws Error for an answer that breaks a rule */
function answered<T>(read: Question<T>['read'], answer: unknown, maxCharacters: number): Answer<T> {
  const changes = new Changes();
  const value = read(answer, maxCharacters, changes);
  return { ok: true, value, ...(changes.list.length > 0 && { changes: changes.list }) };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** The message of anything that was thrown, as one line of text that an event can hold. */
export function describeThrown(thrown: unknown): string {
  let message: string;
  try {
    message = thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    message = 'a value that is no text';
  }
  // UTF-8 replaces lone surrogates, which no event may hold.
  const line = Buffer.from(message.slice(0, MAX_MESSAGE_CHARACTERS)).toString().replace(/\s+/g, ' ');
  return message.length > MAX_MESSAGE_CHARACTERS ? `${line}…` : line;
}
