import { isJsonObject } from '@retrace/trajectory';
import { anthropicMessages, isAnthropicMessage } from '@retrace/chat';
import type { WireMessage } from '@retrace/recording';
import { writeJson } from '@retrace/rows';
import type { Fields } from '../fields.js';

/** Chat messages of one of Anthropic's API, as the proxy reads it: results of tools are messages of their own. Null for one of another API. */
export function fromAnthropic(message: Fields): WireMessage[] | null {
  if (!isAnthropicMessage(message) || Array.isArray(message.tool_calls)) return null;
  const content = (message.content as readonly unknown[]).map(withWrittenInput);
  return anthropicMessages({ messages: [{ ...message, content }] });
}

/** The system message that Anthropic's requests have beside their messages; [] where there is none. */
export function systemMessages({ system }: Fields): WireMessage[] {
  return anthropicMessages({ system });
}

/** A call with its input as JSON, in which numbers and keys stay as they were written. */
function withWrittenInput(block: unknown): unknown {
  return isJsonObject(block) && isJsonObject(block.input)
    ? { ...block, input: writeJson(block.input) }
    : block;
}
