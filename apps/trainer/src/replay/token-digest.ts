import { createHash } from 'node:crypto';
import { TRACE_COLUMNS, type TokenTrace } from '../update/result/token-trace.js';

/** A hash of the token trace of an update, which is the same however the trace is cut into events. */
export class TokenDigest {
  private readonly hashes = TRACE_COLUMNS.map(() => createHash('sha256'));

  static of(trace: TokenTrace): string {
    const digest = new TokenDigest();
    digest.add(trace);
    return digest.value();
  }

  /** Takes the next part. */
  add(trace: TokenTrace): void {
    TRACE_COLUMNS.forEach((name, i) => {
      const column = trace[name];
      if (column) this.hashes[i].update(new Uint8Array(column.buffer, column.byteOffset, column.byteLength));
    });
  }

  /** No part may be added afterwards. */
  value(): string {
    return this.hashes.map((hash) => hash.digest('hex')).join(' ');
  }
}
