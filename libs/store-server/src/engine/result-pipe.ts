import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * A named pipe that the engine writes one result into with `INTO OUTFILE … APPEND`.
 *
 * The engine's own stream call formats every block as a document of its own (a header each, an Arrow stream each) and runs scalar
 * subqueries on the JavaScript thread; its buffering call holds the whole result in memory. Through a pipe one formatter writes one
 * document, on a thread of the engine's, and a reader that pauses makes it wait.
 */
export interface OpenResultPipe {
  readonly path: string;
  /** The result's bytes; ends after {@link finish}, once everything written has been read. */
  readonly bytes: Socket;
  /** Called when the statement has settled, and only then: an engine that opens a pipe without a reader would hang. */
  finish(): void;
  /** Waits until the pipe can be used again: after {@link finish}, when what was left in it has been thrown away. */
  release(): Promise<void>;
}

/** The pipes of a store server: made once, each used by one statement at a time. */
export class ResultPipes {
  private constructor(private readonly free: string[]) {}

  static async create(directory: string, numPipes: number): Promise<ResultPipes> {
    const paths = Array.from({ length: numPipes }, (_, i) => join(directory, `result-${i}`));
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths]);
    return new ResultPipes(paths);
  }

  open(): OpenResultPipe {
    const path = this.free.pop();
    if (path === undefined) throw new Error('more statements run than there are result pipes');
    const bytes = new Socket({
      fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK),
      readable: true,
      writable: false,
    });
    // A writer of our own keeps the pipe from ending before the engine opens it and lets us say when it ends.
    const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    const closed = new Promise<void>((resolve) => bytes.once('close', () => resolve()));
    return {
      path,
      bytes,
      finish: () => closeSync(writer),
      release: async () => {
        bytes.resume();
        await closed;
        this.free.push(path);
      },
    };
  }
}
