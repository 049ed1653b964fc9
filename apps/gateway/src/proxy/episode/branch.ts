import type { Place } from './prompt-keys.js';

/** How an episode came from another one. */
export type Origin =
  | { readonly kind: 'root' }
  /** A sub-agent of the episode `of`. */
  | { readonly kind: 'call'; readonly of: string }
  /** Goes on from step `step` of the episode `of` in another way. */
  | { readonly kind: 'fork'; readonly of: string; readonly step: number };

/** The parts of an episode that stay. */
export interface BranchHead {
  readonly run: string;
  /** Name that the agent gave; null where the episode was found by its prompt. */
  readonly scope: string | null;
  /** How many episodes of that name have ended before. */
  readonly generation: number;
  readonly episode: string;
  /** The first episode of all that came from it. */
  readonly root: string;
  /** The first episode of those that are forks of each other: of them, the newest is the line that went on. */
  readonly line: string;
  readonly origin: Origin;
}

/** An episode that is being recorded: one linear conversation. */
export interface Branch extends BranchHead {
  /** Steps that were recorded. */
  numSteps: number;
  /** The conversation so far, the last answer included. */
  tip: Place;
  system: string;
  /** Tokens of the context after the last step that had any. */
  tokens: readonly number[];
  toolsKey: string;
  /** Whether the last answer called tools whose results no later prompt has shown. */
  hasPendingCalls: boolean;
  lastAtMs: number;
  /** Whether a call is under way: no other call may continue it. */
  isBusy: boolean;
}

/** A place that later prompts may begin with. */
export interface Point extends Place {
  readonly episode: string;
  readonly step: number;
  /** Whether it is after the step's answer, or after its prompt. */
  readonly isAnswer: boolean;
}

export function newBranch(head: BranchHead, system: string, nowMs: number): Branch {
  return {
    ...head,
    numSteps: 0,
    tip: { length: 0, key: '' },
    system,
    tokens: [],
    toolsKey: '',
    hasPendingCalls: false,
    lastAtMs: nowMs,
    isBusy: false,
  };
}

export function copyHead({ run, scope, generation, episode, root, line, origin }: BranchHead): BranchHead {
  return { run, scope, generation, episode, root, line, origin };
}
