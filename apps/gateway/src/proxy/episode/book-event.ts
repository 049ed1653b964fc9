import type { Branch, BranchHead, Point } from './branch.js';
import type { Place } from './prompt-keys.js';

/** A call was recorded as a step. */
export interface StepAdded {
  readonly type: 'step';
  readonly head: BranchHead;
  readonly step: number;
  /** Places after the step's prompt and after its answer. */
  readonly prompt: Place;
  readonly tip: Place;
  readonly system: string;
  /** The step's tokens, and how many of the context so far they follow; null when it has none. */
  readonly tokens: { readonly keptPrefix: number; readonly ids: readonly number[] } | null;
  readonly toolsKey: string;
  readonly hasPendingCalls: boolean;
  /** Name of the group that the episode begins in, at its first step. */
  readonly group?: string;
  readonly atMs: number;
}

/** An episode ended. */
export interface BranchEnded {
  readonly type: 'end';
  readonly run: string;
  readonly episode: string;
}

/** An episode as it is, in place of the events that led there. */
export interface BranchKept {
  readonly type: 'branch';
  readonly branch: Branch;
  readonly points: readonly Point[];
}

/** A name whose episodes have all ended. */
export interface NameEnded {
  readonly type: 'name';
  readonly run: string;
  readonly name: string;
  readonly generation: number;
  /** The episode that was the line which went on. */
  readonly episode: string;
}

/** Number of episodes that have begun in a group. */
export interface GroupKept {
  readonly type: 'group';
  readonly run: string;
  readonly group: string;
  readonly count: number;
}

/** A change of the book, or a part of it: all of them in order make the same book again. */
export type BookEvent = StepAdded | BranchEnded | BranchKept | NameEnded | GroupKept;
