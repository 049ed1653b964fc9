import type { StepResult } from '@retrace/environments';
import type { Answer, GuardedEnvironment } from '../environment/guarded-environment.js';
import { isOver } from '../loop/executed-actions.js';
import type { ActMove } from '../loop/episode-loop.js';

type PendingAnswer = Answer<StepResult> | Promise<Answer<StepResult>>;

/**
 * A turn whose actions the environment takes, one after the other, until one ends the episode or fails. An agent of the user's may give thousands of
 * actions, so neither the stack nor a chain of promises grows with them.
 */
export class ActingTurn {
  /** Outcomes of the actions that were carried out, in order. */
  readonly results: StepResult[] = [];
  /** Changes made to the answers, in words. */
  readonly changes: string[] = [];
  /** Milliseconds that the environment took for all answers. */
  environmentMs = 0;
  /** Why the last action has no outcome; null where all have one. */
  failure: string | null = null;

  /** @param isClosed whether the environment was given up: no further action is carried out */
  constructor(
    readonly move: ActMove,
    private readonly environment: Pick<GuardedEnvironment, 'step'>,
    private readonly isClosed: () => boolean,
  ) {}

  /** Gives the turn directly where the environment answers all actions at once; otherwise one promise for all of them. */
  carryOut(): this | Promise<this> {
    while (this.goesOn) {
      const startedMs = performance.now();
      const answer = this.step();
      if (answer instanceof Promise) return this.carryOutLater(answer, startedMs);
      this.take(answer, startedMs);
    }
    return this;
  }

  private async carryOutLater(first: PendingAnswer, firstStartedMs: number): Promise<this> {
    let pending = first;
    let startedMs = firstStartedMs;
    for (;;) {
      const answer = pending instanceof Promise ? await pending : pending;
      if (this.isClosed()) return this;
      this.take(answer, startedMs);
      if (!this.goesOn) return this;
      startedMs = performance.now();
      pending = this.step();
    }
  }

  private get goesOn(): boolean {
    const { results, move } = this;
    return this.failure === null && results.length < move.actions.length && !isOver(results.at(-1));
  }

  private step(): PendingAnswer {
    return this.environment.step(this.move.actions[this.results.length]);
  }

  private take(answer: Answer<StepResult>, startedMs: number): void {
    this.environmentMs += performance.now() - startedMs;
    if (!answer.ok) {
      this.failure = answer.failure;
      return;
    }
    this.results.push(answer.value);
    if (answer.changes !== undefined) this.changes.push(...answer.changes);
  }
}
