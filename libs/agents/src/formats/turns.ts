import type { ParsedTurn, ToolCall } from '../action-format.js';

interface TurnParts {
  readonly actions?: readonly string[];
  /** '' counts as none. */
  readonly thought?: string | null;
  readonly toolCalls?: readonly ToolCall[];
}

export function validTurn(actions: readonly string[], parts: Omit<TurnParts, 'actions'> = {}): ParsedTurn {
  return {
    actions,
    thought: parts.thought || null,
    valid: true,
    problem: null,
    toolCalls: parts.toolCalls ?? [],
  };
}

export function invalidTurn(
  problem: string,
  { actions = [], thought, toolCalls = [] }: TurnParts = {},
): ParsedTurn {
  return { actions, thought: thought || null, valid: false, problem, toolCalls };
}
