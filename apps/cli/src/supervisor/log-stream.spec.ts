import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { createLogStream } from './log-stream.js';

const now = () => new Date(2026, 0, 2, 3, 4, 5);

function capture(json: boolean, isTTY = false) {
  const out = Object.assign(new PassThrough(), { isTTY });
  const log = createLogStream({ json, out, now });
  return { log, read: () => String((out.read() as Buffer | null) ?? '') };
}

describe('createLogStream', () => {
  it('writes time, role and message in columns', () => {
    const { log, read } = capture(false);
    log.write({ role: 'api', level: 'info', message: 'listens' });
    log.write({ role: 'collector', level: 'warn', message: 'slow disk' });
    expect(read()).toBe('03:04:05 api       listens\n03:04:05 collector warn: slow disk\n');
  });

  it('writes one JSON object per line on request', () => {
    const { log, read } = capture(true);
    log.write({ role: 'api', level: 'info', message: 'listens' });
    expect(JSON.parse(read())).toEqual({
      time: now().toISOString(),
      role: 'api',
      level: 'info',
      message: 'listens',
    });
  });

  it('writes progress once per ten percent when the output is no terminal', () => {
    const { log, read } = capture(false);
    for (const percent of [0, 3, 9, 10, 12, 57]) log.progress('backend', 'downloading', percent / 100);
    expect(
      read()
        .trim()
        .split('\n')
        .map((line) => line.slice(19)),
    ).toEqual(['downloading 0 %', 'downloading 10 %', 'downloading 50 %']);
  });

  it('redraws the bar in place on a terminal and clears it before other lines', () => {
    const { log, read } = capture(false, true);
    log.progress('backend', 'downloading', 0.5);
    log.write({ role: 'api', level: 'info', message: 'listens' });
    const text = read();
    expect(text).toContain(`[${'#'.repeat(12)}${'·'.repeat(12)}] downloading`);
    expect(text.indexOf('\r\u001b[2K')).toBeLessThan(text.indexOf('listens'));
  });

  it('paints time, role and warnings on a terminal, and nothing with NO_COLOR', () => {
    const entry = { role: 'api', level: 'warn', message: 'slow' } as const;
    vi.stubEnv('NO_COLOR', '');
    const colored = capture(false, true);
    colored.log.write(entry);
    expect(colored.read()).toBe(
      '\u001b[90m03:04:05\u001b[39m \u001b[36mapi      \u001b[39m \u001b[33mwarn: slow\u001b[39m\n',
    );
    vi.stubEnv('NO_COLOR', '1');
    const plain = capture(false, true);
    plain.log.write(entry);
    vi.unstubAllEnvs();
    expect(plain.read()).toBe('03:04:05 api       warn: slow\n');
  });
});
