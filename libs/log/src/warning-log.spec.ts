import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { ControlEntry } from './control-tail.js';
import { WarningLog } from './warning-log.js';

function open(append: (entry: ControlEntry) => Promise<void> = () => Promise.resolve()) {
  const appended: [string, ControlEntry][] = [];
  const shown: string[] = [];
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
    show: (line) => shown.push(line),
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
  const counts = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
  expect(appended.map(([runId, { payload }]) => [runId, payload])).toMatchObject([
    ...counts.map((n) => ['run', { step: n, numTimes: n, message: `${n} of 64 rewards are missing` }]),
    ['run', { source: 'collector', step: 7, numTimes: 1 }],
  ]);
  expect(shown.slice(0, 2)).toEqual([
    'update 1: 1 of 64 rewards are missing',
    'update 2: 2 of 64 rewards are missing (2 times so far)',
  ]);
  expect(shown[10]).toBe('round 7: 7 of 64 rewards are missing');
});

it('a warning is one line of well-formed text of bounded length, whatever it was made of', () => {
  const { warnings, shown } = open();
  warnings.entry({ source: 'collector', message: 'reset failed:\n  no map\n' });
  warnings.entry({ source: 'collector', message: `\ud800${'😀'.repeat(5_000_000)}` });
  warnings.entry({ source: 'collector', message: ' ' });
  expect(shown).toEqual(['reset failed: no map', `\ufffd${'😀'.repeat(999)}\ufffd`, 'no text']);
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
    {
      ...{ source: 'sink', severity: 'alarm', step: null, message: 'kept', numTimes: 1 },
      ...{ rule: '', advice: '', episodeIds: [] },
    },
  ]);
});
