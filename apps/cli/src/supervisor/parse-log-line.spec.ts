import { describe, expect, it } from 'vitest';
import { parseLogLine } from './parse-log-line.js';

describe('parseLogLine', () => {
  it.each([
    ['{"level":"warn","message":"late"}', { role: 'api', level: 'warn', message: 'late' }],
    ['{"level":"nonsense","msg":"late"}', { role: 'api', level: 'info', message: 'late' }],
    ['{not json', { role: 'api', level: 'info', message: '{not json' }],
    ['warn api late', { role: 'api', level: 'warn', message: 'late' }],
    ['error no disk', { role: 'api', level: 'error', message: 'no disk' }],
    [
      'I0000 00:00:1795246121.068114   25330 port.cc:153] oneDNN custom operations are on.',
      { role: 'api', level: 'debug', message: 'oneDNN custom operations are on.' },
    ],
    [
      'E0000 00:00:1795246121.068114   25330 executor.cc:9] no device',
      { role: 'api', level: 'warn', message: 'no device' },
    ],
    ['Server listens', { role: 'api', level: 'info', message: 'Server listens' }],
  ])('reads the line %s', (line, entry) => {
    expect(parseLogLine('api', line, 'info')).toEqual(entry);
  });
});
