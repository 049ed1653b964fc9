import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { WarningRaised } from '@retrace/trajectory';
import type { ControlEntry } from './control-tail.js';
import { describeWarning, WarningLog } from './warning-log.js';

function open(append: (entry: ControlEntry) => Promise<void> = () => Promise.resolve()) {
  const appended: [string, ControlEntry][] = [];
  const shown: WarningRaised[] = [];
  const warnings = new WarningLog({
    control: {
      append: async (runId, ...entries) => {
        for (const entry of entries) {
          await append(entry);
          appended.push([runId, entry]);
        }
      },
    },
    runId: 'run',
    show: (raised) => shown.push(raised),
  });
  return { warnings, appended, shown };
}

it('a text that comes 1,000 times, with other numbers each time, is ten events that count it', async () => {
  const { warnings, appended, shown } = open();
  for (let step = 1; step <= 1000; step++) {
    warnings.raise({ source: 'trainer', step, message: `${step} of 64 rewards are missing` });
  }
  warnings.raise({ source: 'collector', step: 7, message: '7 of 64 rewards are missing' });
  await warnings.flush();
  expect(shown.map(({ step, numTimes }) => [step, numTimes])).toEqual([
    ...[1, 2, 4, 8, 16, 32, 64, 128, 256, 512].map((n) => [n, n]),
    [7, 1],
  ]);
  expect(appended.map(([runId]) => runId)).toEqual(shown.map(() => 'run'));
  expect(appended.map(([, { payload }]) => payload)).toEqual(shown);
});

it('a warning is one line of well-formed text of bounded length, whatever it was made of', () => {
  const { warnings, shown } = open();
  warnings.entry({ source: 'collector', message: 'reset failed:\n  no map\n' });
  warnings.entry({ source: 'collector', message: `\ud800${'😀'.repeat(5_000_000)}` });
  warnings.entry({ source: 'collector', message: ' ' });
  expect(shown.map(({ message }) => message.length)).toEqual([20, 2000, 7]);
  expect(shown[0].message).toBe('reset failed: no map');
  expect(shown[1].message).toBe(`\ufffd${'😀'.repeat(999)}\ufffd`);
});

it('showing does not wait for the log, and a log that refuses the event ends neither the process nor later warnings', async () => {
  let isAvailable = false;
  const { warnings, appended, shown } = open(async () => {
    await sleep(5);
    if (!isAvailable) throw new Error('the log is full');
  });
  warnings.raise({ source: 'sink', message: 'lost' });
  expect(shown).toHaveLength(1);
  await warnings.flush();
  isAvailable = true;
  warnings.raise({ source: 'sink', severity: 'alarm', message: 'kept' });
  await warnings.flush();
  expect(appended.map(([, { payload }]) => payload)).toEqual([
    { source: 'sink', severity: 'alarm', step: null, message: 'kept', numTimes: 1 },
  ]);
});

it('the line for a terminal names update or round, and the count once there is one', () => {
  const warning = { severity: 'warning', message: 'no reward', numTimes: 1 } as const;
  expect(describeWarning({ ...warning, source: 'trainer', step: 3 })).toBe('update 3: no reward');
  expect(describeWarning({ ...warning, source: 'collector', step: 0, numTimes: 4 })).toBe(
    'round 0: no reward (4 times so far)',
  );
  expect(describeWarning({ ...warning, source: 'sink', step: null })).toBe('no reward');
});
