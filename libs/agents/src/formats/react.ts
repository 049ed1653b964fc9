import type { ActionFormat, ActionFormatOptions } from '../action-format.js';
import { parseReAct, type ReActReply } from '../react/parse-react.js';
import { soleAction } from './sole-action.js';
import { invalidTurn, validTurn } from './turns.js';

const INSTRUCTIONS = `Answer with your reasoning and then exactly one action, in these two lines:
Thought: <your reasoning>
Action: <one action>`;

/** Agents that go on after their action imagine the environment's answer under this label. */
const OBSERVATION = '\nObservation:';

/** AgentGym takes a whole reply for the action where it holds one of these, which only WebShop has. */
const ACTIONS_WITHOUT_LABEL = ['search[', 'click['];

/** `Thought: … Action: …` (arXiv:2210.03629); the action is one line. */
export function reactFormat({ strict }: ActionFormatOptions): ActionFormat {
  return {
    name: 'react',
    instructions: INSTRUCTIONS,
    stopStrings: [OBSERVATION],
    parse(text) {
      const reply = parseReAct(text);
      const problem = findProblem(reply, strict ? text : null);
      const { thought } = reply;
      if (problem === null) return validTurn([reply.action], { thought });
      return invalidTurn(problem, { actions: strict ? [] : listActions(text, reply), thought });
    },
    write: ({ thought = '', actions }) => `Thought: ${thought}\nAction: ${soleAction('react', actions)}`,
  };
}

function listActions(text: string, reply: ReActReply): readonly string[] {
  if (reply.action !== '') return [reply.action];
  const isWhole = reply.numActionLabels === 0 && ACTIONS_WITHOUT_LABEL.some((part) => text.includes(part));
  return isWhole ? [text.trim()] : [];
}

/** `strictText` is the whole reply where nothing but the format is allowed. */
function findProblem(reply: ReActReply, strictText: string | null): string | null {
  if (reply.numActionLabels === 0) return 'Your answer has no line "Action: <one action>".';
  if (reply.numActionLabels > 1) {
    return `Only one action is allowed in a turn; your answer has ${reply.numActionLabels}.`;
  }
  if (reply.action === '') return 'There is nothing after "Action:".';
  if (strictText === null) return null;
  if (!strictText.trimStart().startsWith('Thought:')) return 'Your answer must begin with "Thought:".';
  const rest = reply.rest.trim();
  return rest === '' || rest === OBSERVATION.trim() ? null : 'Nothing may follow the line of the action.';
}
