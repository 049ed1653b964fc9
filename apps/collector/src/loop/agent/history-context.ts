import type { ShownTurn } from '@retrace/agents';
import type { ChatMessage } from '@retrace/policy';
import type { PromptRequest } from './prompt-texts.js';

/** A prompt that may be sent. */
export interface Draft {
  /** Tokens appended to the kept part of the context. */
  readonly tokenIds: Int32Array;
  readonly keptPrefixTokens: number;
  readonly messages: readonly ChatMessage[];
  /** The newest message of the user. */
  readonly userText: string;
  /** Turns of the past that a longer prompt would have shown. */
  readonly numHiddenTurns: number;
}

/** A turn of the past. */
export interface PastTurn {
  readonly shown: ShownTurn;
  /** The model's text, as it was. */
  readonly reply: string;
  /** The model's text without thoughts. */
  readonly briefReply: string;
  readonly tokenIds: Int32Array;
}

/** The conversation of an episode, as a history policy shows it. */
export interface HistoryContext {
  /**
   * Prompts for a turn: first the longest that the history policy allows, then shorter and shorter ones without the oldest turns.
   *
   * @param maxTokens most of a prompt, with what it keeps
   */
  drafts(request: PromptRequest, maxTokens: number): Iterable<Draft>;
  /** The shortest of the drafts. */
  shortest(request: PromptRequest): Draft;
  /** Adds the turn that answered a draft. */
  append(draft: Draft, turn: PastTurn): void;
}
