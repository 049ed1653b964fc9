/** kafkajs's own producer, set up as the log's: what the log is measured beside. */
import kafkajs from 'kafkajs';

const createPartitioner =
  () =>
  ({ message }) =>
    message.partition;

/** Connected and idempotent; every message names its partition. */
export async function connectBareProducer(brokers) {
  const kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING });
  const producer = kafka.producer({ idempotent: true, createPartitioner });
  await producer.connect();
  return producer;
}
