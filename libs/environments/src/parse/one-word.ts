import { reActAction } from '@retrace/agents';

/** An action text as an environment understood it. */
export interface ParsedAction {
  /** The action in the environment's words; null when none was found. */
  readonly parsedAction: string | null;
  /** True only when it is one of the actions that count here. */
  readonly actionValid: boolean;
}

const NONE: ParsedAction = { parsedAction: null, actionValid: false };

/** A parser of one-word actions: made once per set of actions, so that parsing allocates nothing. */
export type OneWordParser = (text: string) => ParsedAction;

/**
 * Builds a parser that accepts exactly one of `actions`, in any case, with whitespace around it, by itself or
 * after `Action:` in a ReAct reply. Anything else (several words, an unknown word, nothing) is invalid with
 * `parsedAction` null.
 */
export function oneWordParser(actions: readonly string[]): OneWordParser {
  const results = new Map(actions.map((action) => [action, { parsedAction: action, actionValid: true }]));
  return (text) => {
    const direct = results.get(text);
    if (direct !== undefined) return direct;
    const word = (reActAction(text) ?? text).trim().toLowerCase();
    return results.get(word) ?? NONE;
  };
}
