import { createLogStream, parseLogLine, type LogLevel } from '../supervisor/log-stream.js';

type Stream = Pick<NodeJS.WriteStream, 'write'>;

/** From now on each line that this process prints is a JSON object, the one that `up --json` prints for the line of a role. */
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
