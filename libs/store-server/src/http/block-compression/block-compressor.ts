import { Transform, type TransformCallback } from 'node:stream';
import { encodeBlock } from './block-format.js';

/** Bytes in a full block; compressing one blocks the thread for about a millisecond. */
const FULL_BLOCK_BYTES = 256 * 1024;
const NOTHING = Buffer.alloc(0);

/** Compresses bytes into blocks of ClickHouse's own format: `compress=1`. */
export class BlockCompressor extends Transform {
  private parts: Buffer[] = [];
  private sizeBytes = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + FULL_BLOCK_BYTES - this.sizeBytes);
      this.parts.push(part);
      this.sizeBytes += part.length;
      at += part.length;
      if (this.sizeBytes === FULL_BLOCK_BYTES) this.pushBlock();
    }
    done();
  }

  override _flush(done: TransformCallback): void {
    this.pushBlock();
    done();
  }

  /** Emits everything that was written before the call, including bytes that wait for a full block. */
  flush(done: () => void): void {
    this.write(NOTHING, () => {
      this.pushBlock();
      done();
    });
  }

  private pushBlock(): void {
    if (this.sizeBytes === 0) return;
    this.push(encodeBlock(Buffer.concat(this.parts, this.sizeBytes)));
    this.parts = [];
    this.sizeBytes = 0;
  }
}
