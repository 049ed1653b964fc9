import { Transform, type TransformCallback } from 'node:stream';
import { encodeBlock } from './block-format.js';

/** As much goes into a block; compressing one holds the thread for about a millisecond. */
const FULL_BLOCK_BYTES = 256 * 1024;
const NOTHING = Buffer.alloc(0);

/** Puts bytes into blocks of ClickHouse's own compression: `compress=1`. */
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

  /** Gives out what waits for a full block, behind what was written before the call. */
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
