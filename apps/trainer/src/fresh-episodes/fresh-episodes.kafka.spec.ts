import type {} from '@retrace/log/kafka-broker';
import { openKafkaLog } from '@retrace/log/kafka';
import { openStoreFixture } from '@retrace/store-server/testing';
import { newRunId } from '@retrace/trajectory';
import { describe, inject } from 'vitest';
import { freshEpisodesContract } from './fresh-episodes.contract.js';

const shared = inject('kafkaBroker');
const reason = 'unavailable' in shared ? ` (skipped, because ${shared.unavailable})` : '';

describe.skipIf(reason !== '')(`FreshEpisodes, of a log on Kafka with two partitions${reason}`, () => {
  freshEpisodesContract(async () => {
    if ('unavailable' in shared) throw new Error(shared.unavailable);
    const { client, close } = await openStoreFixture();
    const prefix = `fresh-${newRunId()}.`;
    const brokers = [shared.plaintext];
    const log = await openKafkaLog({ brokers, prefix, createdBy: 'test', numTrajectoryPartitions: 2 });
    return {
      ...{ log, client },
      close: async () => {
        await log.close();
        await close();
      },
    };
  });
});
