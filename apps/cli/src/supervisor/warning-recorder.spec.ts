import type { Warning } from '@retrace/log';
import { expect, it } from 'vitest';
import type { LogEntry } from './log-stream.js';
import { WarningRecorder } from './warning-recorder.js';

it('warnings of the supervisor and last words of roles become events; what a role recorded itself is only shown', () => {
  const shown: LogEntry[] = [];
  const raised: Warning[] = [];
  const recorder = new WarningRecorder({ write: (entry) => shown.push(entry), progress: () => undefined });
  recorder.write({ role: 'store', level: 'warn', message: 'before there is a log' });
  recorder.recordTo({ raise: (warning) => raised.push(warning) });
  recorder.write({ role: 'collector-2', level: 'warn', message: 'was killed; restarting in 1 s' });
  recorder.write({ role: 'trainer+collector', level: 'warn', message: 'was killed; restarting in 2 s' });
  recorder.write({ role: 'api', level: 'error', message: 'port taken' });
  recorder.write({ role: 'retrace', level: 'warn', message: 'the disk is nearly full' });
  recorder.write({ role: 'trainer', level: 'warn', message: 'update 3: a loss', isRecorded: true });
  recorder.write({ role: 'run', level: 'info', message: 'update 3 · success 1' });
  recorder.recordTo(null);
  recorder.write({ role: 'retrace', level: 'error', message: 'the next run failed' });
  expect(raised).toEqual([
    { source: 'collector', message: 'was killed; restarting in 1 s' },
    { source: 'trainer', message: 'was killed; restarting in 2 s' },
    { source: 'api', message: 'port taken' },
    { source: 'system', message: 'the disk is nearly full' },
  ]);
  expect(shown).toHaveLength(8);
  expect(shown[5]).toEqual({ role: 'trainer', level: 'warn', message: 'update 3: a loss' });
});
