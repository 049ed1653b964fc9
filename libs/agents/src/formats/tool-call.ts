import type { ActionFormat, ActionFormatOptions } from '../action-format.js';
import { TagReader } from '../tags/block.js';
import { exactCall, looseCall, type WrittenCall } from '../tools/call-fields.js';
import { readJson, repairJson } from '../tools/read-json.js';
import { ACT, Toolbox } from '../tools/toolbox.js';
import { turnOfCalls } from './tool-turns.js';
import { invalidTurn } from './turns.js';
import { writableCalls } from './writable-calls.js';

const CALL = new TagReader('tool_call');
const THINK = new TagReader('think');
const SHAPE = '<tool_call>{"name": "…", "arguments": {…}}</tool_call>';
/** More calls than this are not read. */
const MOST_CALLS_READ = 100;

/** `<tool_call>{"name", "arguments"}</tool_call>` after any words, as the chat templates of Hermes and Qwen teach it. */
export function toolCallFormat({ strict, tools = [ACT], maxActions = 1 }: ActionFormatOptions): ActionFormat {
  const toolbox = new Toolbox(tools, { coerce: !strict });
  return {
    name: 'tool-call',
    instructions: `You have these tools:\n<tools>\n${toolbox.describe()}\n</tools>\nThink, and then answer with ${maxActions === 1 ? 'a call' : `up to ${maxActions} calls`}:\n${SHAPE}`,
    stopStrings: maxActions === 1 ? ['</tool_call>'] : [],
    parse(text) {
      const { think, reply } = listParts(text);
      const blocks = CALL.blocks(reply, MOST_CALLS_READ);
      const first = CALL.block(reply);
      const words = first === null ? '' : reply.slice(0, first.start).trim();
      const thought = think?.isClosed ? think.content : words;
      if (first === null) return invalidTurn(`Your answer has no ${SHAPE}.`, { thought });
      if (blocks.length === 0 && strict)
        return invalidTurn('Your answer does not close <tool_call>.', { thought });
      const last = blocks.at(-1);
      if (strict && last !== undefined && reply.slice(last.end).trim() !== '') {
        return invalidTurn('Nothing may follow the calls.', { thought });
      }
      const contents = blocks.length === 0 ? [first.content] : blocks.map(({ content }) => content);
      const turn = turnOfCalls(toolbox, {
        ...{ thought, shape: SHAPE, strict, maxActions },
        numCalls: contents.length,
        calls: contents.slice(0, maxActions).map((content) => callIn(content, strict)),
      });
      return blocks.length === 0 && turn.valid
        ? { ...turn, valid: false, problem: 'Your answer does not close <tool_call>.' }
        : turn;
    },
    write({ thought, actions }) {
      const calls = writableCalls(toolbox, 'tool-call', actions).map(
        (call) => `<tool_call>\n${JSON.stringify(call)}\n</tool_call>`,
      );
      return [...(thought === undefined ? [] : [THINK.write(thought)]), ...calls].join('\n');
    },
  };
}

/** The text between the tags of each call. */
export function writtenToolCalls(text: string): readonly string[] {
  return CALL.blocks(listParts(text).reply, MOST_CALLS_READ).map(({ content }) => content);
}

/** The thoughts in tags at the beginning, and what follows them. */
function listParts(text: string) {
  const think = THINK.block(text);
  return { think, reply: text.slice(think?.isClosed ? think.end : 0) };
}

function callIn(content: string, strict: boolean): WrittenCall | null {
  const read = strict ? readJson(content) : repairJson(content);
  if ('problem' in read) return null;
  return strict ? exactCall(read.value, 'name') : looseCall(read.value);
}
