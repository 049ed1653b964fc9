import type { RunEnd, RunRecord, RunStart } from '../wire/records.js';

/** The content of a line: the start of a run, a record of it, or its end. */
export type OutboxEntry =
  | { readonly kind: 'start'; readonly run: string; readonly content: RunStart }
  | { readonly kind: 'record'; readonly run: string; readonly content: RunRecord }
  | { readonly kind: 'end'; readonly run: string; readonly content: RunEnd };

/** A line as it is sent: the content is still JSON text. */
export interface OutboxLine {
  readonly kind: OutboxEntry['kind'];
  readonly run: string;
  readonly json: string;
}

const LINE = /^\{"run":"([^"\\]{1,64})","(start|record|end)":/;

/** An entry with its content as text. @throws TypeError when the content is not JSON: a cycle, a BigInt */
export function outboxLine({ kind, run, content }: OutboxEntry): OutboxLine {
  return { kind, run, json: JSON.stringify(content) };
}

export function encodeLine({ kind, run, json }: OutboxLine): string {
  return `{"run":${JSON.stringify(run)},"${kind}":${json}}`;
}

/** @returns null for a line that `encodeLine` did not write */
export function decodeLine(line: string): OutboxLine | null {
  const match = LINE.exec(line);
  if (!match || !line.endsWith('}')) return null;
  return { kind: match[2] as OutboxLine['kind'], run: match[1], json: line.slice(match[0].length, -1) };
}

/** The episode that an entry is about; null for the start and the end of a run. */
export function findEpisode(entry: OutboxEntry): string | null {
  return entry.kind === 'record' ? entry.content.episode : null;
}

/** Type and episode of a record in a line; neither of the start or the end of a run. */
export function parseRecord({ kind, json }: OutboxLine): {
  readonly type?: string;
  readonly episode?: string;
} {
  if (kind !== 'record') return {};
  try {
    return JSON.parse(json) as { readonly type: string; readonly episode: string };
  } catch {
    return {};
  }
}
