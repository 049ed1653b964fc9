import {
  newControlEvent,
  newControlEventId,
  type PayloadOf,
  type RetraceEvent,
  nowUs,
} from '@retrace/trajectory';
import { decodeEvent } from '@retrace/trajectory/codec';
import { LogError } from './log-error.js';

/** Returns the first event of a new log, which gives the log its identity. */
export function newLogOpened(payload: PayloadOf<'LogOpened'>): RetraceEvent<'LogOpened'> {
  return newControlEvent({
    kind: 'LogOpened',
    logId: newControlEventId(),
    runId: '',
    occurredAtUs: nowUs(),
    payload,
  });
}

/**
 * Decodes the first control record of a log.
 *
 * @param where names the log in the error
 * @throws LogError `LOG_CORRUPT` when the record is damaged or another event
 */
export function decodeLogOpened(bytes: Uint8Array, where: string): RetraceEvent<'LogOpened'> {
  const decoded = decodeEvent(bytes);
  if (decoded.ok && decoded.event.kind === 'LogOpened') return decoded.event;
  const reason = decoded.ok ? `it is ${decoded.event.kind}` : decoded.reason;
  throw new LogError('LOG_CORRUPT', `the first control record of ${where} is not a LogOpened: ${reason}`);
}
