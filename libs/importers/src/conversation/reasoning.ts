import { isReasoningPart, reasoningOf as readReasoning } from '@retrace/chat';
import type { Fields } from '../fields.js';

/** Reads the reasoning of a chat message, as the proxy does; undefined where there is none. */
export function readReasoningText(message: Fields): string | undefined {
  const text = readReasoning(message);
  return text === '' ? undefined : text;
}

/** Leaves out the parts of a content whose text is in the reasoning; encrypted ones stay. */
export function withoutReasoning<T>(parts: readonly T[], reasoning = ''): T[] {
  return parts.filter((part) => {
    const text = isReasoningPart(part) ? readReasoning({ content: [part] }) : '';
    return text === '' || !reasoning.includes(text);
  });
}
