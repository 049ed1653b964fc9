/** kafkajs's own producer, with the settings of the log's producer: the baseline that the log is compared with. */
import kafkajs from 'kafkajs';

const createPartitioner =
  () =>
  ({ message }) =>
    message.partition;

/** Connects an idempotent producer; every message names its partition. */
export async function connectBareProducer(brokers) {
  const kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING });
  const producer = kafka.producer({ idempotent: true, createPartitioner });
  await producer.connect();
  return producer;
}
