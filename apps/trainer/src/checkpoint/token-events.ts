import type { ControlEntry } from '@retrace/log';
import type { BatchPlanned } from '@retrace/trajectory';
import { TRACE_COLUMNS, type TokenTrace } from '../update/result/token-trace.js';

/** 37 bytes each, with a teacher 41, so that an event stays below the 64 MiB of the largest record. */
const MAX_TOKENS_PER_EVENT = 1_000_000;

interface TracedTokens {
  /** Of the trainer that commits. */
  readonly epoch: number;
  readonly plan: Pick<BatchPlanned, 'planId' | 'updateNumber'>;
  readonly tokenTrace: TokenTrace | null;
}

/** The events that say what an update read of each token; none where nothing was recorded. */
export function tokenEvents(
  { epoch, plan: { planId, updateNumber }, tokenTrace }: TracedTokens,
  maxTokens = MAX_TOKENS_PER_EVENT,
): ControlEntry[] {
  if (tokenTrace === null) return [];
  const { length } = tokenTrace.optimizerSteps;
  return Array.from({ length: Math.max(1, Math.ceil(length / maxTokens)) }, (_, part) => {
    const [from, to] = [part * maxTokens, (part + 1) * maxTokens];
    const columns = Object.fromEntries(
      TRACE_COLUMNS.map((name) => [name, tokenTrace[name]?.slice(from, to) ?? null]),
    ) as unknown as TokenTrace;
    return { kind: 'UpdateTokensTraced', payload: { planId, epoch, updateNumber, part, ...columns } };
  });
}
