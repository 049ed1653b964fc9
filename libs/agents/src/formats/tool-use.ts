import type { ActionFormat, ActionFormatOptions, ParsedTurn } from '../action-format.js';
import { TagReader } from '../tags/block.js';
import { isJsonObject } from '@retrace/trajectory/json';
import type { WrittenCall } from '../tools/call-fields.js';
import { readJson, repairJson } from '../tools/read-json.js';
import { ACT, Toolbox } from '../tools/toolbox.js';
import { soleAction } from './sole-action.js';
import { turnOfCalls } from './tool-turns.js';
import { invalidTurn, validTurn } from './turns.js';
import { writableCalls } from './writable-calls.js';

const CALL = new TagReader('tool_call');
const ANSWER = new TagReader('answer');
/** OpenManus-RL's tool environment ends at an action that starts so. */
const FINAL_ANSWER = 'FINAL_ANSWER: ';
const SHAPE = '<tool_call>\ntool: name\nparameters: {…}\n</tool_call>';

/** A call in lines `tool:` and `parameters:`, or `<answer>`, as OpenManus-RL's tool environment has it. */
export function toolUseFormat({ strict, tools = [ACT] }: ActionFormatOptions): ActionFormat {
  const toolbox = new Toolbox(tools, { coerce: !strict });
  return {
    name: 'tool-use',
    instructions: `You have these tools:\n${toolbox.describe()}\nThink, and then call one tool:\n${SHAPE}\nor end with your answer:\n<answer>your answer</answer>`,
    stopStrings: ['</tool_call>', '</answer>'],
    parse(text) {
      const block = CALL.block(text);
      const answer = ANSWER.block(text);
      const thought = text.slice(0, block?.start ?? answer?.start ?? text.length).trim();
      if (strict && trailing(text, (block ?? answer)?.end))
        return invalidTurn('Nothing may follow the tags.', { thought });
      if (block?.isClosed) {
        const calls = [callIn(block.content, strict)];
        return turnOfCalls(toolbox, { thought, calls, numCalls: 1, shape: SHAPE, strict, maxActions: 1 });
      }
      if (block !== null) return invalidTurn('Your answer does not close <tool_call>.', { thought });
      if (answer?.isClosed) return validTurn([FINAL_ANSWER + answer.content], { thought });
      return strict || thought === ''
        ? invalidTurn(`Your answer has no ${SHAPE} and no <answer>…</answer>.`, { thought })
        : wordsOnly(text);
    },
    write({ thought, actions }) {
      const action = soleAction('tool-use', actions);
      const before = thought === undefined ? '' : `${thought}\n`;
      if (action.startsWith(FINAL_ANSWER)) return before + ANSWER.write(action.slice(FINAL_ANSWER.length));
      const [call] = writableCalls(toolbox, 'tool-use', [action]);
      return `${before}<tool_call>\ntool: ${call.name}\nparameters: ${JSON.stringify(call.arguments)}\n</tool_call>`;
    },
  };
}

/** A reply without tags is reasoning, which the tool environment takes as a turn. */
function wordsOnly(text: string): ParsedTurn {
  return validTurn([text]);
}

function trailing(text: string, end: number | undefined): boolean {
  return end !== undefined && text.slice(end).trim() !== '';
}

/** Longer calls are not read. */
const MAX_CALL_LENGTH = 100_000;

/** Lines before `tool:` that are `key: value` are arguments, too, where the format is lenient. */
function callIn(content: string, strict: boolean): WrittenCall | null {
  if (content.length > MAX_CALL_LENGTH) return null;
  let name: string | null = null;
  let parameters: string | null = null;
  const values: Record<string, unknown> = {};
  for (const line of content.split('\n').map((each) => each.trim())) {
    const colon = line.indexOf(':');
    const key = line.slice(0, Math.max(colon, 0)).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (key === 'tool') name = value;
    else if (key === 'parameters') parameters = value;
    else if (colon !== -1 && name === null && !strict) values[line.slice(0, colon).trim()] = value;
    else if (strict && line !== '') return null;
  }
  const given = parameters === null ? values : parametersIn(parameters, strict);
  return name === null || given === null ? null : { name, arguments: given };
}

/** Parameters that are not JSON are the argument `query`. */
function parametersIn(text: string, strict: boolean): Readonly<Record<string, unknown>> | null {
  const read = strict ? readJson(text) : repairJson(text);
  if ('value' in read && isJsonObject(read.value)) return read.value;
  return strict ? null : { query: text };
}
