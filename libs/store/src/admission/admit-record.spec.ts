import { describe, expect, it } from 'vitest';
import { type AnyEvent, contentChecksum, EpisodePlaces, newRunId } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import type { Admission } from './admission.js';
import { admitRecord, decideRecord } from './admit-record.js';

const logId = newRunId();
const runId = newRunId();
const [started, step] = episodeEvents({ logId, runId, ordinal: 0 });

/** Knows one episode, in which nothing has its place yet, and no run that has started. */
function oneEpisode(changes: Partial<Admission> = {}): Admission {
  const places = new EpisodePlaces();
  return {
    maxEventBytes: 1_000_000,
    isDeleted: () => false,
    holdsEpoch: () => true,
    hasDeletedEpisode: () => false,
    findPlaces: () => places,
    admitControl: () => 'unknownRun',
    learn: () => Promise.reject(new Error('nothing has to be learned')),
    ...changes,
  };
}

const recordOf = (event: AnyEvent, offset = 0) => ({ offset, bytes: encodeEvent(event) });

describe('admitRecord', () => {
  it('accepts an event with its checksum', () => {
    const result = admitRecord(recordOf(started, 7), oneEpisode());
    expect(result).toEqual({ kind: 'accepted', event: started, checksum: contentChecksum(started) });
  });

  it('accepts an event again that comes twice', () => {
    const admission = oneEpisode();
    expect(admitRecord(recordOf(step, 1), admission).kind).toBe('accepted');
    expect(admitRecord(recordOf(step, 2), admission).kind).toBe('accepted');
  });

  it('makes a dead letter of an event whose place holds other content', () => {
    const admission = oneEpisode();
    admitRecord(recordOf(step, 1), admission);
    const other = episodeEvents({ logId, runId, ordinal: 0, step: () => ({ action: 'other' }) })[1];
    expect(admitRecord(recordOf(other, 2), admission)).toEqual({
      kind: 'deadLetter',
      code: 'CONFLICT',
      reason: expect.stringContaining('StepRecorded.seq is 1'),
    });
  });

  it('makes a dead letter of bytes that hold no event', () => {
    const result = admitRecord({ offset: 0, bytes: Buffer.from('no event') }, oneEpisode());
    expect(result).toMatchObject({ kind: 'deadLetter', code: 'NOT_AN_EVENT' });
  });

  it('makes a dead letter of an event that is longer than the limit', () => {
    const result = admitRecord(recordOf(step), oneEpisode({ maxEventBytes: 10 }));
    expect(result).toMatchObject({ kind: 'deadLetter', code: 'TOO_LARGE' });
  });

  it('makes a dead letter of a control event whose run has not started', () => {
    const result = admitRecord(recordOf(controlEvent({ logId, runId }, 'RunEnded')), oneEpisode());
    expect(result).toMatchObject({ kind: 'deadLetter', code: 'UNKNOWN_RUN' });
  });

  it('drops a record of a deleted run, whatever it holds', () => {
    const deleted = oneEpisode({ isDeleted: () => true });
    expect(admitRecord(recordOf(step), deleted)).toEqual({ kind: 'dropped' });
    expect(admitRecord({ offset: 0, bytes: Buffer.from('no event') }, deleted)).toEqual({ kind: 'dropped' });
  });

  it('asks for a retry where the episode or the run is not known yet', () => {
    const knowsNothing = oneEpisode({ findPlaces: () => undefined, admitControl: () => 'retry' });
    expect(admitRecord(recordOf(step), knowsNothing)).toEqual({ kind: 'retry' });
    const ended = controlEvent({ logId, runId }, 'RunEnded');
    expect(admitRecord(recordOf(ended), knowsNothing)).toEqual({ kind: 'retry' });
  });
});

describe('decideRecord', () => {
  it('learns about the record and those behind it, then decides', async () => {
    let places: EpisodePlaces | undefined;
    const learned: number[][] = [];
    const admission = oneEpisode({
      findPlaces: () => places,
      learn: (records) => {
        learned.push(records.map(({ offset }) => offset));
        places = new EpisodePlaces();
        return Promise.resolve();
      },
    });
    const records = [recordOf(started, 3), recordOf(step, 4), recordOf(step, 5)];
    expect((await decideRecord(records, 1, admission)).kind).toBe('accepted');
    expect(learned).toEqual([[4, 5]]);
  });
});
