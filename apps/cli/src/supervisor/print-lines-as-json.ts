import { createLogStream, type LogLevel } from './log-stream.js';
import { parseLogLine } from './parse-log-line.js';

type Stream = Pick<NodeJS.WriteStream, 'write'>;

/** Turns each line that this process prints from now on into a JSON object, the same as `up --json` prints for a line of a role. */
export function printLinesAsJson(
  role: string,
  { stdout, stderr }: { readonly stdout: Stream; readonly stderr: Stream } = process,
): void {
  printAsJson(stdout, role, 'info');
  printAsJson(stderr, role, 'warn');
}

function printAsJson(stream: Stream, role: string, fallback: LogLevel): void {
  const write = stream.write.bind(stream);
  const log = createLogStream({
    json: true,
    out: Object.create(stream, { write: { value: write } }) as never,
  });
  let begun = '';
  stream.write = (chunk: string | Uint8Array) => {
    const lines = (begun + (typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk))).split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) if (line !== '') log.write(parseLogLine(role, line, fallback));
    return true;
  };
}
