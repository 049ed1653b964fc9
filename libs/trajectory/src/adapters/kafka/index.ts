export type { KafkaCompression, KafkaLogOptions, KafkaSasl, KafkaTls } from './kafka-options.js';
export { openKafkaLog } from './open-kafka-log.js';
