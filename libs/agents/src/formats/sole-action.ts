import { AgentFormatError } from '../errors.js';

interface WritingRules {
  readonly thought: string | undefined;
  readonly forbidsThought?: boolean;
}

/** @throws AgentFormatError `NOT_WRITABLE` unless there is exactly one action, and no thought where the format has no place for it */
export function soleAction(format: string, actions: readonly string[], rules: WritingRules): string {
  if (actions.length !== 1) {
    throw new AgentFormatError(
      'NOT_WRITABLE',
      `actions: has ${actions.length}, the format "${format}" writes exactly one`,
    );
  }
  if (rules.forbidsThought && rules.thought !== undefined) {
    throw new AgentFormatError('NOT_WRITABLE', `thought: the format "${format}" has no place for it`);
  }
  return actions[0];
}
