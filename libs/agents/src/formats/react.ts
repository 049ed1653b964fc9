import type { ActionFormat, ParsedTurn } from '../action-format.js';
import { AgentFormatError } from '../errors.js';
import { parseReAct, type ReActReply } from '../react/parse-react.js';
import { soleAction } from './sole-action.js';

const INSTRUCTIONS = `Answer with your reasoning and then exactly one action, in these two lines:
Thought: <your reasoning>
Action: <one action>`;

/** Agents that go on after their action imagine the environment's answer under this label. */
const OBSERVATION = '\nObservation:';

/** AgentGym takes a whole reply for the action where it holds one of these, which only WebShop has. */
const ACTIONS_WITHOUT_LABEL = ['search[', 'click['];

/** `Thought: … Action: …` (arXiv:2210.03629); the action is one line. */
export function reactFormat({ strict }: { readonly strict: boolean }): ActionFormat {
  return {
    name: 'react',
    instructions: INSTRUCTIONS,
    stopStrings: [OBSERVATION],
    parse(text) {
      const reply = parseReAct(text);
      const problem = problemOf(reply, strict ? text : null);
      const thought = reply.thought === '' ? null : reply.thought;
      const executes = problem === null || !strict;
      return turnOf(executes ? actionsOf(text, reply) : [], { thought, problem });
    },
    write: writeReAct,
  };
}

function turnOf(actions: readonly string[], turn: Pick<ParsedTurn, 'thought' | 'problem'>): ParsedTurn {
  return { ...turn, actions, valid: turn.problem === null, toolCalls: [] };
}

function actionsOf(text: string, reply: ReActReply): readonly string[] {
  if (reply.action !== '') return [reply.action];
  const isWhole = reply.numActionLabels === 0 && ACTIONS_WITHOUT_LABEL.some((part) => text.includes(part));
  return isWhole ? [text.trim()] : [];
}

/** `strictText` is the whole reply where nothing but the format is allowed. */
function problemOf(reply: ReActReply, strictText: string | null): string | null {
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

function writeReAct({ thought = '', actions }: Parameters<ActionFormat['write']>[0]): string {
  const action = soleAction('react', actions, { thought });
  const text = `Thought: ${thought}\nAction: ${action}`;
  const read = parseReAct(text);
  if (
    read.numActionLabels !== 1 ||
    read.action !== action ||
    action === '' ||
    read.rest !== '' ||
    read.thought !== thought
  ) {
    throw new AgentFormatError(
      'NOT_WRITABLE',
      `actions[0]: got ${JSON.stringify(action)}, must be one line without "Action:" and without blanks around it, as must the thought`,
    );
  }
  return text;
}
