import { isJsonObject } from '../json/json.js';
import { json, listOf, nonEmptyText, nullable, objectOf, text, type Rule } from './rules.js';

/** Longer data URLs are refused: an image belongs beside the log, and is named by its address. */
const MAX_INLINE_BYTES = 4096;

/** Requires an object whose fields, as far as it has them, keep these rules; others may be any JSON. */
function outline(rules: Readonly<Record<string, Rule>>, required: readonly string[]): Rule {
  return (value, field) => {
    if (!isJsonObject(value)) return { field, value, rule: 'must be an object' };
    for (const [name, rule] of Object.entries(rules)) {
      if (value[name] === undefined && !required.includes(name)) continue;
      const problem = rule(value[name], `${field}.${name}`);
      if (problem !== null) return problem;
    }
    return null;
  };
}

const address: Rule = (value, field) => {
  const problem = nonEmptyText(value, field);
  const isInline = problem === null && (value as string).startsWith('data:');
  if (!isInline || (value as string).length <= MAX_INLINE_BYTES) return problem;
  const rule = `must have at most ${MAX_INLINE_BYTES} characters inline; store the image elsewhere and give its address`;
  return { field, value, rule };
};

const part = outline({ type: nonEmptyText, text, image_url: outline({ url: address }, ['url']) }, ['type']);

const content: Rule = (value, field) =>
  value === null || typeof value === 'string'
    ? null
    : Array.isArray(value)
      ? listOf(part)(value, field)
      : { field, value, rule: 'must be text, a list of parts, or null' };

const toolCall = outline(
  { id: text, type: text, function: outline({ name: text, arguments: text }, ['name', 'arguments']) },
  ['id'],
);

const message = outline(
  { role: nonEmptyText, content, tool_calls: nullable(listOf(toolCall)), tool_call_id: nullable(text) },
  ['role'],
);

const isStepMessages = objectOf<{ input: unknown; output: unknown }>({
  input: listOf(message),
  output: nullable(message),
});

/**
 * Requires null, or `{ "input": messages, "output": message or null }` in the outline of OpenAI's chat API: a role; content as text, parts or
 * null; tool calls with an id, and a function's name and arguments as text. Other fields may be any JSON. A part's image is an address,
 * or a data URL of at most 4,096 characters.
 */
export const stepMessages: Rule = (value, field) =>
  value === null ? null : (isStepMessages(value, field) ?? json(value, field));
