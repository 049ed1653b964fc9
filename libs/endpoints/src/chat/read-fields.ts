import { countOf, objectOf, type completionCounts, type messageCounts } from '@retrace/chat';
import { EndpointError } from '../endpoint-error.js';
import type { ChatUsage } from './chat-model.js';

/** @throws EndpointError `MALFORMED_ANSWER` unless it is text */
export function textOf(value: unknown, field: string): string {
  if (typeof value === 'string') return value;
  const found = JSON.stringify(value)?.slice(0, 80) ?? 'undefined';
  throw new EndpointError('MALFORMED_ANSWER', `${field} must be text, is ${found}`);
}

/** Reads the usage of an answer, where only counts are taken; null where the answer has none. */
export function countedUsage(
  told: unknown,
  read: typeof completionCounts | typeof messageCounts,
): ChatUsage | null {
  return told ? { reasoningTokens: null, ...read(objectOf(told), countOf) } : null;
}
