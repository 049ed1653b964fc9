import type { ControlEntry } from '@retrace/log';
import type { BatchPlanned } from '@retrace/trajectory';
import { TRACE_COLUMNS, type TokenTrace } from '../update/result/token-trace.js';

/** So that an event stays below the 64 MiB of the largest record. */
const MAX_EVENT_BYTES = 41_000_000;
/** Of a token with a teacher, and of each of the teacher's likeliest tokens at its place. */
const TOKEN_BYTES = 41;
const TOP_BYTES = 8;

const TOP_COLUMNS: ReadonlySet<string> = new Set(['teacherTopIds', 'teacherTopLogprobs']);

interface TracedTokens {
  /** Of the trainer that commits. */
  readonly epoch: number;
  readonly plan: Pick<BatchPlanned, 'planId' | 'updateNumber'>;
  readonly tokenTrace: TokenTrace | null;
}

/** The events that say what an update read of each token; none where nothing was recorded. */
export function tokenEvents(
  { epoch, plan: { planId, updateNumber }, tokenTrace }: TracedTokens,
  maxBytes = MAX_EVENT_BYTES,
): ControlEntry[] {
  if (tokenTrace === null) return [];
  const { length } = tokenTrace.optimizerSteps;
  const topK = (tokenTrace.teacherTopIds?.length ?? 0) / Math.max(1, length);
  const maxTokens = Math.max(1, Math.floor(maxBytes / (TOKEN_BYTES + topK * TOP_BYTES)));
  return Array.from({ length: Math.max(1, Math.ceil(length / maxTokens)) }, (_, part) => {
    const [from, to] = [part * maxTokens, (part + 1) * maxTokens];
    const columns = Object.fromEntries(
      TRACE_COLUMNS.map((name) => {
        const perToken = TOP_COLUMNS.has(name) ? topK : 1;
        return [name, tokenTrace[name]?.slice(from * perToken, to * perToken) ?? null];
      }),
    ) as unknown as TokenTrace;
    return { kind: 'UpdateTokensTraced', payload: { planId, epoch, updateNumber, part, ...columns } };
  });
}
