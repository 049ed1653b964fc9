import {
  inputMessages,
  type RecordedMessage,
  outputMessage,
  type StoredEpisode,
  type StoredStep,
} from './stored-episode.js';
import { type ToolDefinitions, toolsOfEpisode, toolsOfStep } from './tool-definitions.js';

/** The messages and tools that a model had before it when it answered in a step. */
export interface StepContext {
  readonly step: number;
  /** The messages of its call, and of no other one. */
  readonly prompt: readonly RecordedMessage[];
  /** Null where the call has no answer, as one that failed. */
  readonly output: RecordedMessage | null;
  /** The tools that the call offered; null where none are known. */
  readonly tools: ToolDefinitions | null;
}

/** A conversation that a model had as a whole: the context of its last step, with the answer. */
export interface Sequence {
  readonly messages: readonly RecordedMessage[];
  /** The answers that steps gave in it, in order: places in `messages`. An answer that a rewritten context kept belongs to the first. */
  readonly answers: readonly { readonly step: number; readonly at: number }[];
  readonly tools: ToolDefinitions | null;
  readonly isLast: boolean;
}

/** Contexts that the store knows, or the reason why it does not know that of a step. */
export type Known<T> = { readonly kind: 'known'; readonly value: T } | { readonly kind: 'unknown' };

/** Said of rows that would need a prompt whose text is not stored. */
export const CONTEXT_UNKNOWN =
  'a prompt was written again with a part of an earlier answer, and its messages are not stored';

interface WalkedContext extends StepContext {
  /** Whether it begins another conversation than the step before had. */
  readonly isNew: boolean;
  /** Messages of the context so far that it kept, where it was rewritten; null = all. */
  readonly keptMessages: number | null;
}

/**
 * Goes through the calls of an episode, each with the messages that its model saw: those of its context so far which the prompt kept, and
 * those that the step added. Ends with `unknown` at the first step whose prompt can't be told.
 */
function* walkContexts(episode: StoredEpisode): Generator<Known<WalkedContext>> {
  const walk = new ContextWalk(episode);
  for (const step of episode.steps) {
    const context = walk.next(step);
    if (context === null) {
      yield { kind: 'unknown' };
      return;
    }
    yield { kind: 'known', value: context };
  }
}

/** The context of one step; unknown where the store does not have the text of its prompt. */
export function findContext(episode: StoredEpisode, step: number): Known<StepContext> {
  for (const context of walkContexts(episode)) {
    if (context.kind === 'unknown' || context.value.step === step) return context;
  }
  return { kind: 'unknown' };
}

/**
 * The conversations of an episode, each as its model had it at the end of it: one, unless the context was rewritten or other tools were
 * offered. A call without an answer belongs to none.
 */
export function findSequences(episode: StoredEpisode): Known<readonly Sequence[]> {
  const sequences: Omit<Sequence, 'isLast'>[] = [];
  let open: Omit<Sequence, 'isLast'> | null = null;
  for (const context of walkContexts(episode)) {
    if (context.kind === 'unknown') return context;
    const { step, prompt, output, tools, isNew } = context.value;
    if (isNew && open !== null) sequences.push(open);
    if (isNew) open = null;
    if (output === null) continue;
    const answers: Sequence['answers'] = [...(open?.answers ?? []), { step, at: prompt.length }];
    open = { messages: [...prompt, output], answers, tools };
  }
  if (open !== null) sequences.push(open);
  return {
    kind: 'known',
    value: sequences.map((sequence, index) => ({ ...sequence, isLast: index === sequences.length - 1 })),
  };
}

/** For each step the messages that a rewritten context kept of the one before; null where it kept all, or where that can't be told. */
export function countKeptMessages(episode: StoredEpisode): readonly (number | null)[] {
  const kept: (number | null)[] = episode.steps.map(() => null);
  for (const context of walkContexts(episode)) {
    if (context.kind === 'known') kept[context.value.step] = context.value.keptMessages;
  }
  return kept;
}

class ContextWalk {
  private context: readonly RecordedMessage[] = [];
  /** Tokens of the context up to the end of each of its messages, where the steps have tokens. */
  private ends: readonly number[] = [];
  private tools: ToolDefinitions | null;

  constructor(episode: StoredEpisode) {
    this.tools = toolsOfEpisode(episode);
  }

  next(step: StoredStep): WalkedContext | null {
    const range = this.keptRange(step);
    if (range === null) return null;
    const input = inputMessages(step);
    const output = outputMessage(step);
    const isRewritten = range.from > 0 || range.end < this.context.length;
    const tools = toolsOfStep(step) ?? this.tools;
    const hasOtherTools = JSON.stringify(tools) !== JSON.stringify(this.tools) && this.context.length > 0;
    const prompt = [...this.context.slice(range.from, range.end), ...input];
    this.appendEnds(step, range, [input.length, output === null ? 0 : 1]);
    this.context = output === null ? prompt : [...prompt, output];
    this.tools = tools;
    const keptMessages = isRewritten ? range.end - range.from : null;
    return { step: step.step, prompt, output, tools, isNew: isRewritten || hasOtherTools, keptMessages };
  }

  /** The messages of the context that the prompt kept; null where it kept a part of one. */
  private keptRange(step: StoredStep): Range | null {
    const { length } = this.context;
    if (step.keptMessages !== null) return { from: 0, end: Math.min(step.keptMessages, length) };
    const numTokens = this.ends.at(-1) ?? 0;
    const keepsAll = step.messages !== null || step.numTokens === 0 || step.keptPrefixTokens >= numTokens;
    if (keepsAll) return { from: 0, end: length };
    if (step.keptPrefixTokens === 0) return { from: this.numHiddenMessages(step), end: length };
    const end = this.ends.filter((messageEnd) => messageEnd <= step.keptPrefixTokens).length;
    // A prompt that left thoughts out of an answer keeps what is before the answer, whose rest is among its new tokens.
    const isAfterAnswer = end > 0 && this.context[end - 1].role === 'assistant';
    return isAfterAnswer && this.ends[end - 1] === step.keptPrefixTokens ? { from: 0, end } : null;
  }

  /** Messages that a new prompt left out: all, unless the collector says how many of the oldest turns. */
  private numHiddenMessages({ numHiddenTurns }: StoredStep): number {
    const { length } = this.context;
    return numHiddenTurns === null ? length : Math.min(2 * numHiddenTurns, length);
  }

  /** Notes where the messages of a step end. Where one has no tokens of its own, its end is that of the one before it. */
  private appendEnds(
    step: StoredStep,
    { from, end }: Range,
    [numInput, numOutput]: readonly [number, number],
  ) {
    const kept = from > 0 ? this.ends.slice(from, end).map(() => 0) : this.ends.slice(0, end);
    const before = Math.min(step.keptPrefixTokens, this.ends.at(-1) ?? 0);
    const promptEnd = before + step.numPromptTokens;
    const inputEnds = Array.from({ length: numInput }, (_, i) => (i === numInput - 1 ? promptEnd : before));
    const outputEnds = Array.from({ length: numOutput }, () => before + step.numTokens);
    this.ends = [...kept, ...inputEnds, ...outputEnds];
  }
}

interface Range {
  readonly from: number;
  readonly end: number;
}
