import type { WarningRaised } from '@retrace/trajectory';
import type { ControlEntry, ControlTail } from './control-tail.js';

/** A warning as a process raises it. */
export type Warning = Pick<WarningRaised, 'source' | 'message'> &
  Partial<Pick<WarningRaised, 'severity' | 'step' | 'rule' | 'advice' | 'episodeIds'>>;

export interface WarningLogOptions {
  readonly control: Pick<ControlTail, 'append'>;
  /** `''` for a process that belongs to no run. */
  readonly runId: string;
  /** Shows a warning to the user at once, also where the log is unavailable. */
  readonly show?: (line: string, severity: WarningRaised['severity']) => void;
}

/** Longest message of a warning, in UTF-16 units; the text of an environment may be of any length. */
const MAX_MESSAGE_LENGTH = 2_000;
/** Different texts that are counted; beyond that the one that was first seen longest ago is forgotten. */
const MAX_TEXTS = 1_000;

/** ES2024's method, which Node 20 has and the ES2023 typings lack. */
type WellFormedString = string & { toWellFormed(): string };

/**
 * The warnings of one process, as events of stream `control`. A repeated text is raised the first, second, fourth, eighth … time, with
 * the count so far, so that a warning of every update stays a handful of events. Texts that differ only in numbers count as one.
 */
export class WarningLog {
  private readonly counts = new Map<string, number>();
  private appended: Promise<void> = Promise.resolve();

  constructor(private readonly options: WarningLogOptions) {}

  /** Counts and shows a warning; its event, for the caller to append with others, or null where the text has come too often. */
  entry({ source, message, severity = 'warning', step = null, ...monitored }: Warning): ControlEntry | null {
    const { rule = '', advice = '', episodeIds = [] } = monitored;
    const line = (message.replace(/\s*\n\s*/g, ' ').trim() || 'no text') as WellFormedString;
    const text = line.toWellFormed().slice(0, MAX_MESSAGE_LENGTH) as WellFormedString;
    const numTimes = this.count(`${source} ${severity} ${text.replace(/\d+/g, '0')}`);
    if (!Number.isInteger(Math.log2(numTimes))) return null;
    // The cut may have halved a surrogate pair.
    const payload: WarningRaised = {
      ...{ source, severity, step, message: text.toWellFormed(), numTimes },
      ...{ rule, advice, episodeIds },
    };
    this.options.show?.(describeWarning(payload), severity);
    return { kind: 'WarningRaised', payload };
  }

  /** Shows a warning and appends its event in the background; one that the log refuses was shown at least. */
  raise(warning: Warning): void {
    const entry = this.entry(warning);
    if (entry === null) return;
    const { control, runId } = this.options;
    this.appended = Promise.all([this.appended, control.append(runId, entry)]).then(
      () => undefined,
      () => undefined,
    );
  }

  /** Resolves when every warning that was raised is in the log, or was refused by it. */
  async flush(): Promise<void> {
    await this.appended;
  }

  private count(text: string): number {
    const numTimes = (this.counts.get(text) ?? 0) + 1;
    this.counts.set(text, numTimes);
    if (this.counts.size > MAX_TEXTS) {
      for (const oldest of this.counts.keys()) {
        this.counts.delete(oldest);
        break;
      }
    }
    return numTimes;
  }
}

/** One line for a terminal: `update 3: … (4 times so far)`. */
function describeWarning({ source, step, message, advice, numTimes }: WarningRaised): string {
  const unit = source === 'trainer' ? 'update' : 'round';
  const where = step === null ? '' : `${unit} ${step}: `;
  const next = advice === '' ? '' : `; ${advice}`;
  return `${where}${message}${next}${numTimes > 1 ? ` (${numTimes} times so far)` : ''}`;
}
