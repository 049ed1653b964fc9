import { Transform, type TransformCallback } from 'node:stream';
import { BLOCK_PREFIX_BYTES, blockBytes, cannotDecompress, decodeBlock } from './block-format.js';

/** Decompresses blocks of ClickHouse's own format: `decompress=1`. Holds one block at a time. */
export class BlockDecompressor extends Transform {
  private parts: Buffer[] = [];
  private sizeBytes = 0;
  /** Size of the next block, or of its prefix until that has arrived. */
  private wantedBytes = BLOCK_PREFIX_BYTES;
  private knowsSize = false;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.parts.push(chunk);
    this.sizeBytes += chunk.length;
    try {
      while (this.sizeBytes >= this.wantedBytes) this.takeBlock();
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  override _flush(done: TransformCallback): void {
    if (this.sizeBytes === 0) done();
    else
      done(cannotDecompress(`the last compressed block has ${this.sizeBytes} bytes of ${this.wantedBytes}`));
  }

  private takeBlock(): void {
    const held = Buffer.concat(this.parts, this.sizeBytes);
    this.parts = [held];
    if (!this.knowsSize) {
      this.wantedBytes = blockBytes(held);
      this.knowsSize = true;
      return;
    }
    this.push(decodeBlock(held.subarray(0, this.wantedBytes)));
    this.parts = [held.subarray(this.wantedBytes)];
    this.sizeBytes -= this.wantedBytes;
    this.wantedBytes = BLOCK_PREFIX_BYTES;
    this.knowsSize = false;
  }
}
