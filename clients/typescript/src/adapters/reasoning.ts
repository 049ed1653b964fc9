/** Fields of a chat message that may carry reasoning; servers that send several repeat the same text in them. The first that has a text is taken. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'thinking', 'reasoning_details'] as const;

/** Fields of a part, or of an entry of `reasoning_details`, that may carry its text. */
const TEXT_FIELDS = ['text', 'thinking', 'reasoning', 'reasoning_content', 'summary', 'content'] as const;
const REASONING_TYPE = /^(redacted_)?(thinking|reasoning)/;
/** Lists and objects within each other that are read: an entry of a field's list may have a list of texts itself. */
const MAX_NESTING = 6;

type Carrier = Readonly<Record<string, unknown>>;

/**
 * Reads the reasoning of a chat message, whichever field carries it, or the parts of its content that do; '' where there is none. Texts
 * are joined as they are, since a stream may have cut them anywhere.
 */
export function reasoningOf(message: object): string {
  const fields = message as Carrier;
  for (const name of REASONING_FIELDS) {
    const text = reasoningText(fields[name]);
    if (text !== '') return text;
  }
  const { content } = fields;
  return Array.isArray(content) ? reasoningText(content.filter(isReasoningPart)) : '';
}

/** Whether a part of a message's content is reasoning, which may be encrypted, and is no part of what the message says. */
export function isReasoningPart(part: unknown): boolean {
  if (typeof part !== 'object' || part === null || !('type' in part)) return false;
  return typeof part.type === 'string' && REASONING_TYPE.test(part.type);
}

function reasoningText(value: unknown, nesting = 0): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || nesting === MAX_NESTING) return '';
  if (Array.isArray(value)) return value.map((each) => reasoningText(each, nesting + 1)).join('');
  for (const name of TEXT_FIELDS) {
    const text = reasoningText((value as Carrier)[name], nesting + 1);
    if (text !== '') return text;
  }
  return '';
}
