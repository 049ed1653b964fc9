import type { EventLog } from '../event-log.js';
import { openKafkaLog } from './open-kafka-log.js';

/** Opens the contract suite's log at a location `<broker>/<prefix>`; its batches are so small that large records are sent in fragments. */
export function openContractLog(location: string): Promise<EventLog> {
  const [broker, prefix] = location.split('/');
  return openKafkaLog({
    brokers: [broker],
    prefix,
    createdBy: 'contract',
    numTrajectoryPartitions: 4,
    maxBatchBytes: 1024 * 1024,
  });
}
