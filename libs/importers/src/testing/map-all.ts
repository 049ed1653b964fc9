import type { WireEnd, WireEpisode, WireRecord, WireReward, WireStep } from '@retrace/recording';
import type { FormatName, Mapped } from '../format.js';
import { FORMATS } from '../formats/formats.js';
import type { PlacedRow } from '../rows/group-rows.js';

/** Maps rows as an import does, all of them as one group where the format groups. */
export function mapAll(name: FormatName, rows: readonly unknown[]): Mapped {
  const format = FORMATS.find((candidate) => candidate.name === name)!;
  const parts = rows.flatMap((row) => format.expand?.(row) ?? [row]);
  const placed = parts.map((value, index) => ({ number: index + 1, value, file: 'dump.jsonl' }));
  const origin = { fileId: '0123456789ab' };
  const groups = format.keyOf === null ? placed.map((row) => [row]) : groupBy(placed, format.keyOf);
  const mapped = groups.map((rows) => format.map(rows, origin));
  return { episodes: mapped.flatMap((m) => m.episodes), skipped: mapped.flatMap((m) => m.skipped) };
}

function groupBy(rows: readonly PlacedRow[], keyOf: (value: unknown) => string | null): PlacedRow[][] {
  const groups = new Map<string, PlacedRow[]>();
  for (const row of rows) {
    const key = keyOf(row.value);
    if (key !== null) groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

const ofType = <T extends WireRecord>(records: readonly WireRecord[], type: T['type']) =>
  records.filter((record): record is T => record.type === type);
export const steps = (records: readonly WireRecord[]) => ofType<WireStep>(records, 'step');
export const startOf = (records: readonly WireRecord[]) => ofType<WireEpisode>(records, 'episode')[0];
export const endOf = (records: readonly WireRecord[]) => ofType<WireEnd>(records, 'end')[0];
export const rewards = (records: readonly WireRecord[]) => ofType<WireReward>(records, 'reward');
