import type { ToldUsage } from '@retrace/chat';
import { EndpointError } from '../endpoint-error.js';
import type { ChatUsage } from './chat-model.js';

/** @throws EndpointError `MALFORMED_ANSWER` unless it is text */
export function textOf(value: unknown, field: string): string {
  if (typeof value === 'string') return value;
  const found = JSON.stringify(value)?.slice(0, 80) ?? 'undefined';
  throw new EndpointError('MALFORMED_ANSWER', `${field} must be text, is ${found}`);
}

/** Keeps of told usage what are counts; others are null, as where the server gives none. */
export function countedUsage(told: Partial<ToldUsage> | null): ChatUsage | null {
  if (told === null) return null;
  return {
    inputTokens: countOf(told.inputTokens),
    cachedInputTokens: countOf(told.cachedInputTokens),
    outputTokens: countOf(told.outputTokens),
    reasoningTokens: countOf(told.reasoningTokens),
  };
}

function countOf(value: unknown): number | null {
  return Number.isInteger(value) && (value as number) >= 0 ? (value as number) : null;
}
