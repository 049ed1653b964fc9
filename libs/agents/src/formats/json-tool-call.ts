import type { ActionFormat, ActionFormatOptions } from '../action-format.js';
import { isJsonObject } from '@retrace/trajectory/json';
import { callValues, exactCall, looseCall } from '../tools/call-fields.js';
import { jsonPart, readJson, repairJson } from '../tools/read-json.js';
import { ACT, Toolbox } from '../tools/toolbox.js';
import { turnOfCalls } from './tool-turns.js';
import { invalidTurn } from './turns.js';
import { writableCalls } from './writable-calls.js';

interface JsonCallSpec {
  readonly name: string;
  readonly nameKey: 'name' | 'function_name';
}

/** `{"thought", "name", "arguments"}`, as OpenAI's API names the fields of a function; a list for several calls. */
export const JSON_TOOL_CALL: JsonCallSpec = { name: 'json-tool-call', nameKey: 'name' };
/** `{"thought", "function_name", "arguments"}`, as AgentGym's function calling has it. */
export const FUNCTION_CALLING: JsonCallSpec = { name: 'function-calling', nameKey: 'function_name' };

/** Calls written as JSON and nothing else. */
export function jsonCallFormat(
  { name, nameKey }: JsonCallSpec,
  { strict, tools = [ACT], maxActions = 1 }: ActionFormatOptions,
): ActionFormat {
  const toolbox = new Toolbox(tools, { coerce: !strict });
  const shape = `{"thought": "…", "${nameKey}": "…", "arguments": {…}}`;
  return {
    name,
    instructions: `You have these tools:\n${toolbox.describe()}\nAnswer with a call as JSON and nothing else:\n${shape}`,
    stopStrings: [],
    parse(text) {
      const part = strict ? { before: '', json: text } : jsonPart(text);
      if (part === null) return invalidTurn(`Your answer has no JSON ${shape}.`);
      const read = strict ? readJson(part.json) : repairJson(part.json);
      if ('problem' in read) return invalidTurn(read.problem);
      const isList = Array.isArray(read.value);
      const values = strict && !isList ? [read.value] : callValues(read.value);
      if (values.length === 0) return invalidTurn('Your answer has no call.');
      const calls = values
        .slice(0, maxActions)
        .map((value) => (strict ? exactCall(value, nameKey) : looseCall(value)));
      const thought = thoughtIn(isList ? values[0] : read.value) ?? proseBefore(part.before);
      return turnOfCalls(toolbox, { thought, calls, numCalls: values.length, shape, strict, maxActions });
    },
    write({ thought, actions }) {
      const calls = writableCalls(toolbox, name, actions).map((call, at) => ({
        ...(at === 0 && thought !== undefined && { thought }),
        [nameKey]: call.name,
        arguments: call.arguments,
      }));
      return JSON.stringify(calls.length === 1 ? calls[0] : calls);
    },
  };
}

function thoughtIn(value: unknown): string | null {
  return isJsonObject(value) && typeof value.thought === 'string' ? value.thought.trim() : null;
}

/** Words before the JSON, without the fence of a block of code. */
function proseBefore(text: string): string | null {
  const fence = text.lastIndexOf('```');
  return (fence === -1 ? text : text.slice(0, fence)).trim() || null;
}
