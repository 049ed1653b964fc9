import type { ActionFormat, ActionFormatOptions } from '../action-format.js';
import { legalSpelling } from './legal-spelling.js';
import { TaggedReplies } from './tagged.js';
import { invalidTurn, validTurn } from './turns.js';

const SEPARATOR = '||';
/** RAGEN's limit before it became 2. */
const DEFAULT_MAX_ACTIONS = 5;

/** Several actions of one turn, `<think>…</think><answer>up || left</answer>`, as RAGEN uses them. */
export function actionListFormat({
  strict,
  maxActions = DEFAULT_MAX_ACTIONS,
}: ActionFormatOptions): ActionFormat {
  const instructions = `Answer with your reasoning and then your actions, at most ${maxActions}, with ${SEPARATOR} between them:
<think>your reasoning</think><answer>first action ${SEPARATOR} second action</answer>`;
  const replies = new TaggedReplies(
    { name: 'action-list', thoughtTags: ['think'], actionTag: 'answer', instructions },
    { strict },
  );
  return {
    name: 'action-list',
    instructions,
    stopStrings: ['</answer>'],
    parse(text, { legalActions }) {
      const { thought, action, problem } = replies.read(text);
      if (strict && problem !== null) return invalidTurn(problem, { thought });
      const { actions: listed, numActions } = splitActions(action ?? '', maxActions);
      const spelled =
        legalActions === null ? listed : listed.map((each) => legalSpelling(each, legalActions));
      const actions = spelled.filter((each) => each !== null);
      const fault =
        problem ?? listProblem({ listed, spelled, numActions, most: strict ? maxActions : Infinity });
      if (fault === null) return validTurn(actions, { thought });
      return invalidTurn(fault, { actions: strict ? [] : actions, thought });
    },
    write: ({ thought = '', actions }) => replies.write(thought, actions.join(` ${SEPARATOR} `)),
  };
}

interface ListedActions {
  readonly listed: readonly string[];
  /** Each as the environment spells it; null where it is not admissible. */
  readonly spelled: readonly (string | null)[];
  readonly numActions: number;
  readonly most: number;
}

function listProblem({ listed, spelled, numActions, most }: ListedActions): string | null {
  if (numActions > most) return `Only ${most} actions are allowed in a turn; your answer has ${numActions}.`;
  if (listed.length === 0) return '<answer> is empty.';
  const unknown = spelled.indexOf(null);
  return unknown === -1 ? null : `"${listed[unknown].slice(0, 100)}" is not a possible action.`;
}

/** The first `most` actions that are not empty, and the number of all. */
function splitActions(
  text: string,
  most: number,
): { readonly actions: readonly string[]; readonly numActions: number } {
  const all = text
    .split(SEPARATOR)
    .map((action) => action.trim())
    .filter((action) => action !== '');
  return { actions: all.slice(0, most), numActions: all.length };
}
