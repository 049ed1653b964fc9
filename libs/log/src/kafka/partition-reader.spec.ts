import type { Broker, FetchedMessage } from './kafkajs-internals.js';
import { describe, expect, it } from 'vitest';
import { KafkaConnection } from './kafka-connection.js';
import { resolveKafkaOptions } from './kafka-options.js';
import { PartitionReader } from './partition-reader.js';

/** A broker that answers every fetch with these messages: a real one has no gaps in topics like ours. */
function answering(messages: readonly Partial<FetchedMessage>[]): Broker {
  const complete = messages.map((message) => ({
    value: Buffer.from('value'),
    headers: {},
    isControlRecord: false,
    ...message,
  }));
  const partitions = [{ highWatermark: '100', messages: complete }];
  return { fetch: () => Promise.resolve({ responses: [{ partitions }] }) } as unknown as Broker;
}

describe('PartitionReader', () => {
  const connection = new KafkaConnection(
    resolveKafkaOptions({ brokers: ['localhost:1'], createdBy: 'test' }),
  );
  const reader = new PartitionReader(connection, 'topic', 3);
  const fetch = (messages: readonly Partial<FetchedMessage>[], fromOffset: number) =>
    reader.fetch(answering(messages), fromOffset, { maxBytes: 1, waitMs: 0 });

  it('leaves out the records of a batch before the offset, and continues after its end', async () => {
    const { records, nextOffset } = await fetch([{ offset: '4' }, { offset: '5' }, { offset: '6' }], 5);
    expect(records.map(({ offset }) => offset)).toEqual([5, 6]);
    expect(nextOffset).toBe(7);
  });

  it('skips control records and fragments without taking them for a gap', async () => {
    const messages = [
      { offset: '5' },
      { offset: '6', isControlRecord: true },
      { offset: '7', headers: { retrace: Buffer.from('fragment') } },
      { offset: '8' },
    ];
    const { records, nextOffset } = await fetch(messages, 5);
    expect(records.map(({ offset }) => offset)).toEqual([5, 8]);
    expect(nextOffset).toBe(9);
  });

  it.each([
    [['7', '8'], 'after offset 4 comes 7; must be 5'],
    [['5', '8'], 'after offset 5 comes 8; must be 6'],
  ])('fails loudly on a gap: %j from 5', async (offsets, what) => {
    await expect(
      fetch(
        offsets.map((offset) => ({ offset })),
        5,
      ),
    ).rejects.toMatchObject({
      code: 'LOG_RECORDS_MISSING',
      message: `records are missing in partition 3 of topic topic: ${what}`,
    });
  });
});
