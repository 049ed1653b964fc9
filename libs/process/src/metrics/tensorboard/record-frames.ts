import { crc32c } from './crc32c.js';

/** Bytes of a frame before its content: length and its checksum. */
const HEAD_BYTES = 12;
const CHECKSUM_BYTES = 4;
const MASK_DELTA = 0xa282ead8;

/**
 * Frames content as a TFRecord: uint64 length, uint32 masked CRC-32C of the length, content, uint32 masked CRC-32C of the content, all
 * little-endian (https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details).
 */
export function frameRecord(content: Uint8Array): Buffer {
  const frame = Buffer.alloc(HEAD_BYTES + content.length + CHECKSUM_BYTES);
  frame.writeBigUInt64LE(BigInt(content.length), 0);
  frame.writeUInt32LE(maskedChecksum(frame.subarray(0, 8)), 8);
  frame.set(content, HEAD_BYTES);
  frame.writeUInt32LE(maskedChecksum(content), HEAD_BYTES + content.length);
  return frame;
}

/** Counts the frames at the start of a file that are complete and have their checksums, and their bytes. */
export function countFrames(file: Buffer): { readonly numFrames: number; readonly numBytes: number } {
  let [numFrames, numBytes] = [0, 0];
  for (;;) {
    const rest = file.subarray(numBytes);
    if (rest.length < HEAD_BYTES || rest.readUInt32LE(8) !== maskedChecksum(rest.subarray(0, 8))) break;
    const end = HEAD_BYTES + Number(rest.readBigUInt64LE(0));
    if (rest.length < end + CHECKSUM_BYTES) break;
    if (rest.readUInt32LE(end) !== maskedChecksum(rest.subarray(HEAD_BYTES, end))) break;
    numFrames++;
    numBytes += end + CHECKSUM_BYTES;
  }
  return { numFrames, numBytes };
}

function maskedChecksum(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}
