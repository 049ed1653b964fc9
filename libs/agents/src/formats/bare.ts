import type { ActionFormat } from '../action-format.js';
import { soleAction } from './sole-action.js';

/** The text as it is goes to the environment, which finds the action in it. */
export function bareFormat(): ActionFormat {
  return {
    name: 'bare',
    instructions: '',
    stopStrings: [],
    parse: (text) => ({ actions: [text], thought: null, valid: true, problem: null, toolCalls: [] }),
    write: ({ thought, actions }) => soleAction('bare', actions, { thought, forbidsThought: true }),
  };
}
