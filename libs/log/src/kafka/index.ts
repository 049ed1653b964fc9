export { type ExclusiveRole, holdExclusively, type HoldOptions } from './exclusive-role.js';
export type { KafkaCompression, KafkaLogOptions, KafkaSasl, KafkaTls } from './kafka-options.js';
export type { LogTopics } from './log-topics.js';
export { describeKafkaLog, openKafkaLog } from './open-kafka-log.js';
