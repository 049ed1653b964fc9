import type { Observation } from '@retrace/environments';
import type { ChatMessage, PromptFormat, TemplateTool } from '@retrace/policy';
import type { Json } from '@retrace/trajectory';
import type { EpisodeFailure, Prompt, Turn } from '../turn/turn.js';

/** Asks the model for a turn. */
export interface AskMove {
  readonly kind: 'ask';
  readonly prompt: Prompt;
  /** The conversation that the prompt shows, for models that take text. */
  readonly messages: readonly ChatMessage[];
  /** Tools that the chat template describes in the prompt (default none). */
  readonly tools?: readonly TemplateTool[];
  /** Purpose of a call that asks for something else than an action, such as `summary`; null for one that asks for an action. */
  readonly purpose: string | null;
  /** Whether the turn may be trained on; the tokens of others count as part of the prompt. */
  readonly isTrained: boolean;
}

/** Carries out actions in the environment, in order, until the episode ends; without any, the turn is lost. */
export interface ActMove {
  readonly kind: 'act';
  readonly actions: readonly string[];
  /** Whether the text kept to the format of actions. Whether the actions are possible is for the environment to say. */
  readonly isValid: boolean;
  /** Recorded under `agent` in the step's info; null for nothing. */
  readonly note: Readonly<Record<string, Json>> | null;
}

/** Ends the episode: the environment has, or the loop says why in `endDetail`. */
export interface EndMove {
  readonly kind: 'end';
  readonly endDetail: string;
  /** Prompt whose value the episode is bootstrapped from. */
  readonly final: Prompt;
}

/** The episode can't go on: the environment failed or its text can't be tokenized, the model gave no turn, or an agent of the user's failed. */
export interface FailMove {
  readonly kind: 'fail';
  readonly of: EpisodeFailure['of'];
  readonly failure: string;
}

export type LoopMove = AskMove | ActMove | EndMove | FailMove;

/** An environment's answer, as the agent gets it. */
export interface SeenAnswer {
  readonly observation: Observation;
  /** Whether the environment and the format took the turn before; true at the beginning. */
  readonly wasValid: boolean;
  /** Whether the environment has ended the episode; the move is then `end`, with an empty detail. */
  readonly isOver: boolean;
}

/**
 * Everything between the environment of one episode and its model: which prompts the model reads, and what becomes of its turns. Called
 * in turn: `observe`, then `read` for each `ask`, until an `act`, whose outcome comes with the next `observe`.
 */
export interface EpisodeLoop {
  /** Takes an observation: the first one, or that after an `act`. */
  observe(seen: SeenAnswer): LoopMove | Promise<LoopMove>;
  /** Takes the model's turn that answers the last `ask`. */
  read(turn: Turn): LoopMove | Promise<LoopMove>;
  /** Frees what the episode holds; called once, when it ends. */
  close(): void;
}

/** Facts that the loop of an episode begins with. */
export interface LoopStart {
  readonly prompts: PromptFormat;
  /** Positions that a prompt and its turn may fill together. */
  readonly maxTokens: number;
  readonly task: Json;
  /** Most actions that an episode of the environment can have. */
  readonly maxSteps: number;
}

/** Begins the loop of an episode. */
export type BeginLoop = (start: LoopStart) => EpisodeLoop;

/** How the episodes of a run are played. */
export interface EpisodeLoops {
  readonly begin: BeginLoop;
  /** Texts that end a turn and belong to it. */
  readonly stopStrings: readonly string[];
  /**
   * The text with which the model would take an action, for scripted agents.
   *
   * @throws AgentFormatError `NOT_WRITABLE` for an action that the format can't express
   */
  write(action: string): string;
}
