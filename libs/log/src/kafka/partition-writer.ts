import { GroupCommit } from '../group-commit.js';
import { LogError } from '../log-error.js';
import type { PartitionProducer } from './partition-producer.js';
import {
  chooseFragmented,
  encodePointer,
  computeFragmentBytes,
  MAX_BATCH_RECORDS,
  messageBytes,
  toMessage,
  withRole,
  type Message,
} from './record-batch.js';

interface Append {
  readonly records: readonly Uint8Array[];
  readonly sizeBytes: number;
  /** Indexes of the records that are sent in fragments. */
  readonly fragmented: ReadonlySet<number>;
}

/**
 * Appends to one partition in the order of the calls. Appends that are submitted while a batch is under way share the next one.
 *
 * An append larger than a batch sends its largest records ahead as fragments, which readers skip; then one batch with the other
 * records and a pointer for each of those. Only that batch makes the append: without it the fragments mean nothing.
 */
export class PartitionWriter {
  private readonly appends: GroupCommit<Append, number>;

  constructor(
    private readonly producer: PartitionProducer,
    private readonly maxBatchBytes: number,
  ) {
    this.appends = new GroupCommit(
      (group) => this.send(group),
      (waiting) => this.countFitting(waiting),
    );
  }

  /** Resolves with the first offset. @throws LogError `LOG_APPEND_TOO_LARGE` when it doesn't fit into one batch even with fragments; the errors of sending */
  submit(records: readonly Uint8Array[]): Promise<number> {
    const fragmented = chooseFragmented(records, this.maxBatchBytes);
    const sizeBytes = records.reduce((sum, record) => sum + messageBytes(record), 0);
    if (fragmented === null) {
      const size = `append has ${records.length} records of ${sizeBytes} bytes`;
      const rule = `must have at most ${MAX_BATCH_RECORDS} records and ${this.maxBatchBytes} bytes, as it lands as one batch`;
      return Promise.reject(new LogError('LOG_APPEND_TOO_LARGE', `${size}; ${rule} (maxBatchBytes)`));
    }
    return this.appends.submit({ records, sizeBytes, fragmented });
  }

  /** Resolves when everything submitted so far has settled. */
  async drain(): Promise<void> {
    await this.appends.drain();
  }

  /** Counts the first appends that fit into one batch; one with fragments has its own batch. */
  private countFitting(waiting: readonly Append[]): number {
    let numBytes = 0;
    let numRecords = 0;
    const end = waiting.findIndex(({ records, sizeBytes, fragmented }, i) => {
      numBytes += sizeBytes;
      numRecords += records.length;
      if (i === 0) return false;
      const isFull = numBytes > this.maxBatchBytes || numRecords > MAX_BATCH_RECORDS;
      return isFull || fragmented.size > 0 || waiting[0].fragmented.size > 0;
    });
    return end < 0 ? waiting.length : end;
  }

  /** Sends appends as one batch; resolves with the first offset of each. */
  private async send(group: readonly Append[]): Promise<readonly number[]> {
    const messages: Message[] = [];
    for (const { records, fragmented } of group) {
      for (const [i, record] of records.entries()) {
        messages.push(fragmented.has(i) ? await this.sendFragments(record) : toMessage(record));
      }
    }
    let nextOffset = await this.producer.send(messages);
    return group.map(({ records }) => {
      const firstOffset = nextOffset;
      nextOffset += records.length;
      return firstOffset;
    });
  }

  private async sendFragments(record: Uint8Array): Promise<Message> {
    const { value } = toMessage(record);
    const fragmentBytes = computeFragmentBytes(this.maxBatchBytes);
    const offsets: number[] = [];
    for (let start = 0; start < value.length; start += fragmentBytes) {
      const fragment = withRole(value.subarray(start, start + fragmentBytes), 'fragment');
      offsets.push(await this.producer.send([fragment]));
    }
    return withRole(encodePointer(record, offsets), 'pointer');
  }
}
