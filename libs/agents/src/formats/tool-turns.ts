import type { ParsedTurn, ToolCall } from '../action-format.js';
import type { WrittenCall } from '../tools/call-fields.js';
import type { Toolbox } from '../tools/toolbox.js';
import { invalidTurn, validTurn } from './turns.js';

export interface WrittenCalls {
  readonly thought: string | null;
  /** The first `maxActions` calls, null where one cannot be read. */
  readonly calls: readonly (WrittenCall | null)[];
  readonly numCalls: number;
  readonly shape: string;
  readonly strict: boolean;
  readonly maxActions: number;
}

/** Makes a turn of written calls: in strict formats all or none, else those that are possible. */
export function turnOfCalls(toolbox: Toolbox, written: WrittenCalls): ParsedTurn {
  const { thought, calls, numCalls, shape, strict, maxActions } = written;
  const resolved = calls.map((call) =>
    call === null ? { problem: `A call must be ${shape}.` } : toolbox.resolve(call.name, call.arguments),
  );
  const made = resolved.filter((each) => 'call' in each);
  const problem =
    strict && numCalls > maxActions
      ? `Only ${maxActions} ${maxActions === 1 ? 'call is' : 'calls are'} allowed in a turn; your answer has ${numCalls}.`
      : (resolved.find((each) => 'problem' in each)?.problem ?? null);
  const kept = strict && problem !== null ? [] : made;
  const actions = kept.map(({ action }) => action);
  const toolCalls: readonly ToolCall[] = kept.map(({ call }) => call);
  return problem === null
    ? validTurn(actions, { thought, toolCalls })
    : invalidTurn(problem, { actions, thought, toolCalls });
}
