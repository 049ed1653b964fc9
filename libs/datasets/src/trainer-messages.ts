import { isJsonObject, type Json } from '@retrace/trajectory';
import { argumentsObject } from './call-arguments.js';
import type { RecordedMessage } from './stored-episode.js';

/**
 * Messages as chat templates and trainers read them: the arguments of a tool call are an object, not its JSON, and a message beside calls
 * has the content `''`. Templates iterate over arguments or write them as JSON again, and most can't add null to a text. Arguments that
 * are no JSON object stay the text that the model wrote.
 */
export function trainerMessages(messages: readonly RecordedMessage[]): RecordedMessage[] {
  return messages.map(trainerMessage);
}

function trainerMessage(message: RecordedMessage): RecordedMessage {
  const { role, content, tool_calls: calls, ...others } = message;
  // Templates ask whether a message has a field, so one that is null is left out.
  const known = Object.entries(others).filter(([, value]) => value !== null);
  return {
    role,
    content: plainContent(content),
    ...Object.fromEntries(known),
    ...(Array.isArray(calls) &&
      calls.length > 0 && { tool_calls: (calls as readonly Json[]).map(trainerCall) }),
  };
}

/** One part of text is its text: templates of models without images expect one. */
function plainContent(content: Json | undefined): Json {
  if (content === null || content === undefined) return '';
  if (!Array.isArray(content) || content.length !== 1) return content;
  const [part] = content as readonly Json[];
  return isJsonObject(part) && part.type === 'text' && typeof part.text === 'string' ? part.text : content;
}

function trainerCall(call: Json): Json {
  if (!isJsonObject(call) || !isJsonObject(call.function)) return call;
  const { arguments: given } = call.function;
  if (typeof given !== 'string') return call;
  return { ...call, function: { ...call.function, arguments: argumentsObject(given) ?? given } };
}
