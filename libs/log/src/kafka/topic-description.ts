import type { Broker } from './kafkajs-internals.js';
import { Decoder, Encoder } from './kafkajs-internals.js';
import { uuidFromBytes } from '@retrace/trajectory';

export interface DescribedTopic {
  readonly topic: string;
  /** UUID that the cluster gave the topic: a topic that is deleted and created again has another one. */
  readonly topicId: string;
  readonly numPartitions: number;
  readonly replicationFactor: number;
}

const METADATA = { apiKey: 3, apiVersion: 12, apiName: 'Metadata' };
const NO_TOPIC_ID = Buffer.alloc(16);
const UNKNOWN_TOPIC_OR_PARTITION = 3;

/**
 * Asks a broker for topics by name. Version 12 of the request (Kafka 3.1): kafkajs speaks version 6, whose answer has no
 * topic ids. Format: https://kafka.apache.org/protocol.html#The_Messages_Metadata
 */
export function describeTopics(
  broker: Broker,
  topics: readonly string[],
): Promise<readonly DescribedTopic[]> {
  return broker.connectionPool.send({
    request: { ...METADATA, encode: () => Promise.resolve(encodeRequest(topics)) },
    response: {
      decode: (bytes: Buffer) => Promise.resolve(decodeResponse(new Decoder(bytes))),
      parse: (answer: readonly DescribedTopic[]) => Promise.resolve(answer),
    },
  });
}

function encodeRequest(topics: readonly string[]): Encoder {
  const encoder = new Encoder();
  // The end of the second version of the request's header: no tagged fields.
  encoder.writeUVarInt(0).writeUVarInt(topics.length + 1);
  for (const topic of topics) encoder.writeBuffer(NO_TOPIC_ID).writeUVarIntString(topic).writeUVarInt(0);
  return encoder.writeBoolean(false).writeBoolean(false).writeUVarInt(0);
}

function decodeResponse(decoder: Decoder): readonly DescribedTopic[] {
  decoder.readTaggedFields();
  // How long to hold back requests, the brokers, the id of the cluster, the controller.
  decoder.readInt32();
  decoder.readUVarIntArray(skipBroker);
  decoder.readUVarIntString();
  decoder.readInt32();
  return decoder.readUVarIntArray(decodeTopic).filter((topic) => topic !== null);
}

function skipBroker(decoder: Decoder): void {
  decoder.readInt32();
  decoder.readUVarIntString();
  decoder.readInt32();
  decoder.readUVarIntString();
  decoder.readTaggedFields();
}

function decodeTopic(decoder: Decoder): DescribedTopic | null {
  const errorCode = decoder.readInt16();
  const topic = decoder.readUVarIntString() ?? '';
  const topicId = uuidFromBytes(decoder.readBytes(16));
  decoder.readBoolean();
  const replicaCounts = decoder.readUVarIntArray((partition) => {
    partition.readInt16();
    partition.readInt32();
    partition.readInt32();
    partition.readInt32();
    const replicas = partition.readUVarIntArray((item) => item.readInt32());
    partition.readUVarIntArray((item) => item.readInt32());
    partition.readUVarIntArray((item) => item.readInt32());
    partition.readTaggedFields();
    return replicas.length;
  });
  decoder.readInt32();
  decoder.readTaggedFields();
  if (errorCode === UNKNOWN_TOPIC_OR_PARTITION || replicaCounts.length === 0) return null;
  return {
    topic,
    topicId,
    numPartitions: replicaCounts.length,
    replicationFactor: Math.min(...replicaCounts),
  };
}
