import type { ActionFormat } from './action-format.js';

/** A message of a conversation, as chat models take it. */
export interface AgentMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The agent's view before a turn. */
export interface AgentView {
  readonly observation: string;
  /** Actions that the environment admits; null when it does not say. */
  readonly legalActions: readonly string[] | null;
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** Whether the environment took the actions of the turn before; true in the first turn. */
  readonly wasValid: boolean;
}

export interface AskOptions {
  /** Recorded with the call; by default none. */
  readonly purpose?: string;
  /** Whether what the model writes may be trained on (default true). */
  readonly isTrained?: boolean;
}

/** The model of an episode. */
export interface AgentModel {
  /**
   * Asks for the next message of a conversation. The context of the call before is kept as far as this one begins with it. One call at
   * a time.
   */
  ask(messages: readonly AgentMessage[], options?: AskOptions): Promise<string>;
}

/** Actions of a turn: one, or several to be carried out in order. */
export interface AgentDecision {
  readonly actions: readonly string[];
  /** False for a turn that broke the agent's own format (default true). */
  readonly isValid?: boolean;
}

/** An agent in one episode. */
export interface CustomAgent {
  /** Decides a turn, for which it may ask the model any number of times. */
  act(view: AgentView, model: AgentModel): string | AgentDecision | Promise<string | AgentDecision>;
  /** Called once, when the episode has ended. */
  close?(): void;
}

/** Default export of a file that a recipe names as `agent.module`, or what a function of the recipe's options returns there. */
export interface CustomAgentSpec {
  readonly name: string;
  /** Begins an episode. @param episode the recipe's format, and most turns */
  begin(episode: { readonly format: ActionFormat; readonly maxTurns: number }): CustomAgent;
}
