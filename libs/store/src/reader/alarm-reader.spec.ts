import { describe, expect, it } from 'vitest';
import { silenceAt, silenceOfAlarm, type StoredSilence } from './alarm-reader.js';

const HOUR_US = 3_600_000_000;
/** Hours of a day, in microseconds since the Unix epoch. */
const at = (hour: number): number => Date.UTC(2026, 10, 30) * 1000 + hour * HOUR_US;

const silenced = (fromHour: number, untilHour: number, runId = ''): StoredSilence => ({
  ...{ runId, rule: 'low', note: 'a test', source: 'ann' },
  ...{ silencedAtUs: at(fromHour), untilUs: at(untilHour) },
});

const alarm = { runId: 'lake', rule: 'low', raisedAtUs: at(10) };

describe('silenceOfAlarm', () => {
  it.each([
    ['held when it was raised', silenced(9, 11), true],
    ['holds when it is sent', silenced(11, 13), true],
    ['began and was over while it waited', silenced(10.5, 11.5), false],
    ['was over when it was raised', silenced(8, 10), false],
    ['was ended while it waited', silenced(11, 11), false],
    ['was ended by a clock that is ahead', silenced(13, 13), false],
    ['is of its run', silenced(9, 11, 'lake'), true],
    ['is of another run', silenced(9, 11, 'maze'), false],
    ['is of another rule', { ...silenced(9, 11), rule: 'high' }, false],
  ])('of an alarm of 10:00 that is sent at 12:00: one that %s', (_, silence, keepsBack) => {
    expect(silenceOfAlarm([silence], alarm, at(12))).toEqual(keepsBack ? silence : null);
  });
});

describe('silenceAt', () => {
  it('finds the one that holds and ends last', () => {
    const [longest, ended] = [silenced(9, 14), silenced(13, 13)];
    expect(silenceAt([longest, ended, silenced(9, 13)], alarm, at(12))).toEqual(longest);
    expect(silenceAt([ended], alarm, at(12))).toBeNull();
    expect(silenceAt([longest], alarm, at(14))).toBeNull();
  });
});
