import type { ActionFormat } from '../action-format.js';
import { soleAction } from './sole-action.js';
import { validTurn } from './turns.js';

/** The text as it is goes to the environment, which finds the action in it. It has no place for thoughts. */
export function bareFormat(): ActionFormat {
  return {
    name: 'bare',
    instructions: '',
    stopStrings: [],
    parse: (text) => validTurn([text]),
    write: ({ actions }) => soleAction('bare', actions),
  };
}
