import { AgentFormatError } from '../errors.js';

/** @throws AgentFormatError `NOT_WRITABLE` unless there is exactly one action */
export function soleAction(format: string, actions: readonly string[]): string {
  if (actions.length === 1) return actions[0];
  throw new AgentFormatError(
    'NOT_WRITABLE',
    `actions: has ${actions.length}, the format "${format}" writes exactly one`,
  );
}
