import type { ToolCall } from '../action-format.js';
import { AgentFormatError } from '../errors.js';
import type { Toolbox } from '../tools/toolbox.js';

/** @throws AgentFormatError `NOT_WRITABLE` when no tool makes one of the actions, or there are none */
export function writableCalls(
  toolbox: Toolbox,
  format: string,
  actions: readonly string[],
): readonly ToolCall[] {
  if (actions.length === 0) {
    throw new AgentFormatError('NOT_WRITABLE', `actions: got [], the format "${format}" writes at least one`);
  }
  return actions.map((action, at) => {
    const call = toolbox.callOf(action);
    if (call !== null) return call;
    throw new AgentFormatError('NOT_WRITABLE', `actions[${at}]: no tool makes ${JSON.stringify(action)}`);
  });
}
