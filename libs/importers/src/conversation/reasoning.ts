import { type Fields, isFields } from '../fields.js';

/** Fields of a chat message that may carry reasoning: the first that has a text is taken, as the proxy does (`clients/typescript`, `reasoningOf`). */
const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'thinking', 'reasoning_details'] as const;

/** Fields of a part, or of an entry of `reasoning_details`, that may carry its text. */
const TEXT_FIELDS = ['text', 'thinking', 'reasoning', 'reasoning_content', 'summary', 'content'] as const;
const REASONING_TYPE = /^(redacted_)?(thinking|reasoning)/;
/** Lists and objects within each other that are read: an entry of a field's list may have a list of texts itself. */
const MAX_NESTING = 6;

/** Reads the reasoning of a chat message, of a field or else of the parts of its content; undefined where there is none. */
export function reasoningOf(message: Fields): string | undefined {
  for (const name of REASONING_FIELDS) {
    const text = reasoningText(message[name]);
    if (text !== '') return text;
  }
  const { content } = message;
  const text = Array.isArray(content) ? reasoningText(content.filter(isReasoningPart)) : '';
  return text === '' ? undefined : text;
}

/** Leaves out the parts of a content whose text is in the reasoning; encrypted ones stay. */
export function withoutReasoning<T>(parts: readonly T[], reasoning = ''): T[] {
  return parts.filter((part) => {
    const text = isReasoningPart(part) ? reasoningText(part) : '';
    return text === '' || !reasoning.includes(text);
  });
}

function isReasoningPart(part: unknown): boolean {
  return isFields(part) && typeof part.type === 'string' && REASONING_TYPE.test(part.type);
}

function reasoningText(value: unknown, nesting = 0): string {
  if (typeof value === 'string') return value;
  if (nesting === MAX_NESTING) return '';
  if (Array.isArray(value)) return value.map((each) => reasoningText(each, nesting + 1)).join('');
  if (!isFields(value)) return '';
  for (const name of TEXT_FIELDS) {
    const text = reasoningText(value[name], nesting + 1);
    if (text !== '') return text;
  }
  return '';
}
