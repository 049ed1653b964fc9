import type { AnyEvent } from '@retrace/trajectory';
import type {
  LiveMetrics,
  LivePolicy,
  LiveRunAnnotated,
  LiveRunEnded,
  LiveRunStarted,
  LiveUpdateApplied,
  LiveUpdatePlanned,
  LiveWarning,
} from './live-message.dto.js';

type LiveContent =
  | { readonly kind: 'metrics'; readonly data: LiveMetrics }
  | { readonly kind: 'policy'; readonly data: LivePolicy }
  | { readonly kind: 'update'; readonly data: LiveUpdatePlanned | LiveUpdateApplied }
  | { readonly kind: 'warning'; readonly data: LiveWarning }
  | { readonly kind: 'run'; readonly data: LiveRunStarted | LiveRunEnded | LiveRunAnnotated };

/** A message to the clients of the live stream. */
export type LiveMessage = LiveContent & {
  /** Offset of its event in the control stream: the id of the message. */
  readonly offset: number;
  readonly runId: string;
};

/** The message for an event of the control stream; null for an event that no page shows. */
export function toLiveMessage(offset: number, event: AnyEvent): LiveMessage | null {
  const content = findContent(event, Math.floor(event.occurredAtUs / 1000));
  return content && { ...content, offset, runId: event.runId };
}

function findContent(event: AnyEvent, time: number): LiveContent | null {
  switch (event.kind) {
    case 'MetricsLogged': {
      const { source, step, names, values } = event.payload;
      return {
        kind: 'metrics',
        data: { source, step, names, values: Array.from(values, finiteOrNull), time },
      };
    }
    case 'PolicyPublished': {
      const { policyVersion, updateNumber } = event.payload;
      return { kind: 'policy', data: { policyVersion, updateNumber, time } };
    }
    case 'BatchPlanned': {
      const { updateNumber, policyVersionIn, stage } = event.payload;
      return { kind: 'update', data: { state: 'planned', updateNumber, policyVersionIn, stage, time } };
    }
    case 'UpdateApplied': {
      const { updateNumber, policyVersionOut } = event.payload;
      return { kind: 'update', data: { state: 'applied', updateNumber, policyVersionOut, time } };
    }
    case 'WarningRaised':
      return { kind: 'warning', data: { ...event.payload, time } };
    case 'RunStarted':
      return { kind: 'run', data: { state: 'started', name: event.payload.name, time } };
    case 'RunEnded':
      return { kind: 'run', data: { state: 'ended', reason: event.payload.reason, time } };
    case 'RunAnnotated':
      return { kind: 'run', data: { state: 'annotated', time } };
    default:
      return null;
  }
}

/** JSON has no NaN; in the log it stands for a value that is unavailable. */
function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
