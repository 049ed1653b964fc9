import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { printLinesAsJson } from './print-lines-as-json.js';

it('printLinesAsJson: prints one object per complete line, with the level that the line starts with or else that of its stream', () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  printLinesAsJson('sink', { stdout, stderr });
  stdout.write('info writes the ');
  stdout.write(new TextEncoder().encode('log\nplain\n\n'));
  stderr.write('error the port is taken\nanything\n');
  const entries = (stream: PassThrough) =>
    String(stream.read())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  const entry = (level: string, message: string) => ({
    time: expect.any(String) as string,
    role: 'sink',
    level,
    message,
  });
  expect(entries(stdout)).toEqual([entry('info', 'writes the log'), entry('info', 'plain')]);
  expect(entries(stderr)).toEqual([entry('error', 'the port is taken'), entry('warn', 'anything')]);
});
