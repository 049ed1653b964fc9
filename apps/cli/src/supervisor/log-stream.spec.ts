import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLogStream, parseLogLine } from './log-stream.js';

const now = () => new Date(2026, 0, 2, 3, 4, 5);

function capture(json: boolean, isTTY = false) {
  const out = Object.assign(new PassThrough(), { isTTY });
  const log = createLogStream({ json, out, now });
  return { log, read: () => String((out.read() as Buffer | null) ?? '') };
}

describe('log stream', () => {
  it('writes time, role and message in columns', () => {
    const { log, read } = capture(false);
    log.write({ role: 'api', level: 'info', message: 'listens' });
    log.write({ role: 'collector', level: 'warn', message: 'slow disk' });
    expect(read()).toBe('03:04:05 api       listens\n03:04:05 collector warn: slow disk\n');
  });

  it('writes one JSON object a line on request', () => {
    const { log, read } = capture(true);
    log.write({ role: 'api', level: 'info', message: 'listens' });
    expect(JSON.parse(read())).toEqual({
      time: now().toISOString(),
      role: 'api',
      level: 'info',
      message: 'listens',
    });
  });

  it('tells progress once per ten percent where there is no terminal', () => {
    const { log, read } = capture(false);
    for (const percent of [0, 3, 9, 10, 12, 57]) log.progress('backend', 'downloading', percent / 100);
    expect(
      read()
        .trim()
        .split('\n')
        .map((line) => line.slice(19)),
    ).toEqual(['downloading 0 %', 'downloading 10 %', 'downloading 50 %']);
  });

  it('redraws the bar in place on a terminal and makes room for other lines', () => {
    const { log, read } = capture(false, true);
    log.progress('backend', 'downloading', 0.5);
    log.write({ role: 'api', level: 'info', message: 'listens' });
    const text = read();
    expect(text).toContain(`[${'#'.repeat(12)}${'·'.repeat(12)}] downloading`);
    expect(text.indexOf('\r\u001b[2K')).toBeLessThan(text.indexOf('listens'));
  });
});

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
  ])('reads %s', (line, entry) => {
    expect(parseLogLine('api', line, 'info')).toEqual(entry);
  });
});
