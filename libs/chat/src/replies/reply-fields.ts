import { AnswerFault } from '../calls/answer-fault.js';
import type { completionCounts, messageCounts } from '../calls/usage.js';
import { asCount, asObject } from '../json/json-fields.js';
import type { ChatUsage } from './text-api.js';

/** @throws AnswerFault unless it is text */
export function requireText(value: unknown, field: string): string {
  if (typeof value === 'string') return value;
  const found = JSON.stringify(value)?.slice(0, 80) ?? 'undefined';
  throw new AnswerFault(`${field} must be text, is ${found}`);
}

/** Reads the usage of an answer, where only counts are taken; null where the answer has none. */
export function countedUsage(
  told: unknown,
  read: typeof completionCounts | typeof messageCounts,
): ChatUsage | null {
  return told ? { reasoningTokens: null, ...read(asObject(told), asCount) } : null;
}
