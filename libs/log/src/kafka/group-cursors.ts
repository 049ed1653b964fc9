import type { KafkaConnection } from './kafka-connection.js';

const NO_MEMBER = { groupGenerationId: -1, memberId: '' };

/**
 * Cursors of groups, stored as committed offsets of Kafka consumer groups without members, so tools that show the lag of consumer groups
 * show them too. Kafka forgets a group that has committed nothing for `offsets.retention.minutes`; cursors are advisory.
 */
export class GroupCursors {
  constructor(
    private readonly connection: KafkaConnection,
    private readonly prefix: string,
  ) {}

  async read(group: string, topic: string, partition: number): Promise<number | null> {
    const groupId = this.prefix + group;
    const { responses } = await this.connection.retrying('reading a cursor', async (cluster) => {
      const coordinator = await cluster.findGroupCoordinator({ groupId });
      return coordinator.offsetFetch({ groupId, topics: [{ topic, partitions: [{ partition }] }] });
    });
    const offset = Number(responses[0].partitions[0].offset);
    return offset < 0 ? null : offset;
  }

  async commit(group: string, topic: string, partition: number, nextOffset: number): Promise<void> {
    const groupId = this.prefix + group;
    const partitions = [{ partition, offset: String(nextOffset) }];
    await this.connection.retrying('committing a cursor', async (cluster) => {
      const coordinator = await cluster.findGroupCoordinator({ groupId });
      return coordinator.offsetCommit({ groupId, ...NO_MEMBER, topics: [{ topic, partitions }] });
    });
  }
}
