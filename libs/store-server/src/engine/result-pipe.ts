import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * A named pipe into which the engine writes one result with `INTO OUTFILE … APPEND`.
 *
 * The engine's stream call formats every block as a separate document (each with a header, each an Arrow stream) and runs scalar
 * subqueries on the JavaScript thread; its buffering call holds the whole result in memory. Through a pipe, one formatter writes one
 * document on a thread of the engine, and waits while the reader pauses.
 */
interface OpenResultPipe {
  readonly path: string;
  /** Bytes of the result; ends after {@link finish}, once everything written has been read. */
  readonly bytes: Socket;
  /** Call it when the statement has settled, not earlier: an engine that opens a pipe without a reader hangs. */
  finish(): void;
  /** Discards unread bytes, and waits after {@link finish} until the pipe can be used again. */
  release(): Promise<void>;
}

/** The pipes of a store server: created once, each used by one statement at a time. */
export class ResultPipes {
  private constructor(private readonly free: string[]) {}

  static async create(directory: string, numPipes: number): Promise<ResultPipes> {
    const paths = Array.from({ length: numPipes }, (_, i) => join(directory, `result-${i}`));
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths]);
    return new ResultPipes(paths);
  }

  open(): OpenResultPipe {
    const path = this.free.pop();
    if (path === undefined) throw new Error('more statements are running than there are result pipes');
    const bytes = new Socket({
      fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK),
      readable: true,
      writable: false,
    });
    // This process holds the pipe open for writing as well, so that it does not end before the engine opens it, and ends in `finish`.
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
