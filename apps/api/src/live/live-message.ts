import type { AnyEvent } from '@retrace/trajectory';

/** What clients of the live stream hear about. */
export interface LiveMessage {
  /** Offset of its event in the control stream: the id of the message. */
  readonly offset: number;
  readonly runId: string;
  readonly kind: 'metrics' | 'policy' | 'update' | 'run';
  readonly data: object;
}

/** The message for an event of the control stream; null for events that concern no page. */
export function toLiveMessage(offset: number, event: AnyEvent): LiveMessage | null {
  const time = Math.floor(event.occurredAtUs / 1000);
  const message = (kind: LiveMessage['kind'], data: object): LiveMessage => ({
    offset,
    runId: event.runId,
    kind,
    data: { ...data, time },
  });
  switch (event.kind) {
    case 'MetricsLogged': {
      const { source, step, names, values } = event.payload;
      return message('metrics', { source, step, names, values: Array.from(values, finiteOrNull) });
    }
    case 'PolicyPublished': {
      const { policyVersion, updateNumber } = event.payload;
      return message('policy', { policyVersion, updateNumber });
    }
    case 'BatchPlanned': {
      const { updateNumber, policyVersionIn, stage } = event.payload;
      return message('update', { state: 'planned', updateNumber, policyVersionIn, stage });
    }
    case 'UpdateApplied': {
      const { updateNumber, policyVersionOut } = event.payload;
      return message('update', { state: 'applied', updateNumber, policyVersionOut });
    }
    case 'RunStarted':
      return message('run', { state: 'started', name: event.payload.name });
    case 'RunEnded':
      return message('run', { state: 'ended', reason: event.payload.reason });
    default:
      return null;
  }
}

/** JSON has no NaN; in the log it says "not available". */
function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
