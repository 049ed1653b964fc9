import { describe, expect, it } from 'vitest';
import { RUN_FAILED } from './alarm.js';
import { ALARM_HOLDS_US, AlarmOccurrences } from './alarm-occurrences.js';

const NOON_US = Date.UTC(2026, 10, 30, 12) * 1000;
const HOUR_US = 3_600_000_000;
const SEEN = { note: 'the judge is down', source: 'ann', acknowledgedAtUs: NOON_US + HOUR_US };

const collapse = { source: 'trainer', rule: 'entropyCollapse', message: 'the entropy is 0.1 nats' } as const;
const unnamed = { source: 'store', rule: '', message: 'the disk has 2 GiB left' } as const;

/** Acknowledged an hour after it was raised at noon. */
function acknowledged(alarm: typeof collapse | typeof unnamed): AlarmOccurrences {
  const occurrences = new AlarmOccurrences();
  occurrences.raise({ ...alarm, raisedAtUs: NOON_US, numTimes: 1 });
  occurrences.acknowledge(alarm, SEEN);
  return occurrences;
}

describe('AlarmOccurrences', () => {
  it('keeps an acknowledgement while the alarm is raised again, whatever its text says', () => {
    const occurrences = acknowledged(collapse);
    const later = { ...collapse, message: 'the entropy is 1e-5 nats' };
    occurrences.raise({ ...later, raisedAtUs: NOON_US + 20 * HOUR_US, numTimes: 1 });
    expect(occurrences.acknowledgementOf(collapse)).toEqual(SEEN);
  });

  it('takes an alarm after more than a day of quiet as another occurrence', () => {
    const occurrences = acknowledged(collapse);
    occurrences.raise({ ...collapse, raisedAtUs: NOON_US + ALARM_HOLDS_US, numTimes: 1 });
    expect(occurrences.acknowledgementOf(collapse)).toEqual(SEEN);
    occurrences.raise({ ...collapse, raisedAtUs: NOON_US + 2 * ALARM_HOLDS_US + 1, numTimes: 1 });
    expect(occurrences.acknowledgementOf(collapse)).toBeNull();
  });

  it('knows by the count that the alarm was raised in between without a record', () => {
    // The 5th to the 8th time: four times in four days, so that no day needs to have been quiet.
    const occurrences = acknowledged(collapse);
    occurrences.raise({ ...collapse, raisedAtUs: NOON_US + 4 * ALARM_HOLDS_US, numTimes: 8 });
    expect(occurrences.acknowledgementOf(collapse)).toEqual(SEEN);
    occurrences.raise({ ...collapse, raisedAtUs: NOON_US + 12 * ALARM_HOLDS_US + 1, numTimes: 16 });
    expect(occurrences.acknowledgementOf(collapse)).toBeNull();
  });

  it('shows the acknowledgement of a run that has ended, and takes the next alarm as another occurrence', () => {
    const occurrences = acknowledged(collapse);
    occurrences.end();
    expect(occurrences.acknowledgementOf(collapse)).toEqual(SEEN);
    occurrences.raise({ ...collapse, raisedAtUs: NOON_US + 2 * HOUR_US, numTimes: 1 });
    expect(occurrences.acknowledgementOf(collapse)).toBeNull();
  });

  it('takes each failure of a run as another occurrence, also where no end of the run is in the log', () => {
    const failed = { source: 'system', rule: RUN_FAILED, message: 'the run failed: no memory' } as const;
    const occurrences = new AlarmOccurrences();
    occurrences.raise({ ...failed, raisedAtUs: NOON_US, numTimes: 1 });
    occurrences.acknowledge(failed, SEEN);
    expect(occurrences.acknowledgementOf(failed)).toEqual(SEEN);
    occurrences.raise({ ...failed, raisedAtUs: NOON_US + 3 * HOUR_US, numTimes: 1 });
    expect(occurrences.acknowledgementOf(failed)).toBeNull();
  });

  it('tells alarms without a rule apart by their texts but for numbers, and by their process', () => {
    const occurrences = acknowledged(unnamed);
    expect(occurrences.acknowledgementOf({ ...unnamed, message: 'the disk has 17 GiB left' })).toEqual(SEEN);
    expect(occurrences.acknowledgementOf({ ...unnamed, message: 'the disk is full' })).toBeNull();
    expect(occurrences.acknowledgementOf({ ...unnamed, source: 'sink' })).toBeNull();
  });

  it('ignores an acknowledgement of what was not raised', () => {
    const occurrences = new AlarmOccurrences();
    occurrences.acknowledge(collapse, SEEN);
    occurrences.raise({ ...collapse, raisedAtUs: NOON_US, numTimes: 1 });
    expect(occurrences.acknowledgementOf(collapse)).toBeNull();
  });
});
