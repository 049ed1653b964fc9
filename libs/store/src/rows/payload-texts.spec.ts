import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyEvent } from '@retrace/trajectory';
import { sampleEpisodeEvent, sampleEvents } from '@retrace/trajectory/testing';
import { describe, expect, it } from 'vitest';
import { ArrowColumns } from '../arrow/arrow-columns.js';
import { eventRow, EventRowsEncoder } from './event-rows.js';

/** By kind, a line each. The hash of a row covers its text: one that is here never changes. */
const GOLDEN = join(import.meta.dirname, '../../../../test/golden/rows/payload-texts.txt');

const POSITION = { logId: sampleEvents()[0].logId, stream: 'trajectories', partition: 3 } as const;

/** Column `payload` of the rows of events. */
function textsOfRows(events: readonly AnyEvent[]): string[] {
  const encoder = new EventRowsEncoder(POSITION);
  events.forEach((event, offset) => encoder.append(eventRow(offset, event)));
  const { columns, body } = encoder.finish();
  return columns.includes('payload') ? ArrowColumns.read(body).texts('payload') : events.map(() => '');
}

describe('the JSON text of a row', () => {
  it('is for a sample event of each kind the one that it always was', () => {
    const events = sampleEvents();
    const texts = textsOfRows(events);
    const lines = events.map(({ kind }, i) => `${kind} ${texts[i]}\n`);
    expect(lines.join('')).toBe(readFileSync(GOLDEN, 'utf8'));
  });

  it('has task before forkedFrom, whatever the order of the payload', () => {
    const event = sampleEpisodeEvent('EpisodeStarted', { task: { seed: 7 }, forkedFrom: null });
    const reversed = Object.fromEntries(Object.entries(event.payload).toReversed());
    const text = '{"task":{"seed":7},"forkedFrom":null}';
    expect(textsOfRows([event, { ...event, payload: reversed } as never])).toEqual([text, text]);
  });

  it('has the fields of other kinds in the order of the payload', () => {
    const [event] = sampleEvents().filter(({ kind }) => kind === 'PolicyValidated');
    const [text] = textsOfRows([event]);
    const reversed = Object.fromEntries(Object.entries(event.payload).toReversed());
    const [reversedText] = textsOfRows([{ ...event, payload: reversed } as never]);
    expect(reversedText).not.toBe(text);
    expect(JSON.parse(reversedText)).toEqual(JSON.parse(text));
  });
});
