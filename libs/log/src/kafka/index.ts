export { holdExclusively } from './exclusive-role.js';
export { openKafkaLog } from './open-kafka-log.js';
