import { Injectable } from '@nestjs/common';
import type { BatchGroup } from '@retrace/process';
import { ProblemError } from '../problems/problem.js';
import { SqlService } from '../sql/sql.service.js';
import type { BatchRequest } from './batches.dto.js';

const ORDER_BY = {
  random: (seed: number) => `cityHash64(group_id, ${seed})`,
  newest: () => 'max(started_at) DESC',
} as const;

/** Reasons that an error lists. */
const MAX_REASONS = 3;

/** Draws whole groups of a run, without replacement. */
@Injectable()
export class DrawnGroups {
  constructor(private readonly sql: SqlService) {}

  /**
   * Draws among the episodes that ended, that the condition takes, and that a policy gradient may train on. The condition is a user's, so the whole
   * statement runs as user SQL, and it stands outside: whatever it says, only these episodes are drawn among.
   *
   * @param runId checked before: it stands in the statement
   * @throws ProblemError `SQL_REFUSED`, `SQL_FAILED`, `SQL_LIMIT_EXCEEDED`; `NO_EPISODES`
   */
  async draw(
    runId: string,
    { where = "split = 'train'", groups = 64, order = 'random', seed = 0 }: BatchRequest,
  ): Promise<BatchGroup[]> {
    const query = `
      SELECT group_id, arraySort(groupArray(episode_id)) AS members FROM (
        SELECT * FROM episodes WHERE run_id = '${runId}' AND sealed AND end_reason != 'abandoned'
          AND episode_id NOT IN (SELECT episode_id FROM steps WHERE run_id = '${runId}' AND untrainable != '')
      ) WHERE (\n${where}\n)
      GROUP BY group_id ORDER BY ${ORDER_BY[order](seed)}, group_id`;
    const { rows } = await this.sql.run({ query, maxRows: groups });
    if (rows.length > 0)
      return rows.map(([groupId, members]) => ({
        groupId: groupId as string,
        episodeIds: members as string[],
      }));
    const rule = `no episode that ended, that \`where\` takes (${where}), and that may be trained on`;
    throw new ProblemError('NO_EPISODES', `Run ${runId} has ${rule}${await this.describeLeftOut(runId)}`);
  }

  /** Says why episodes of the run may not be trained on; empty where all may. */
  private async describeLeftOut(runId: string): Promise<string> {
    const query = `
      SELECT untrainable, uniqExact(episode_id) AS n FROM steps WHERE run_id = '${runId}' AND untrainable != ''
      GROUP BY untrainable ORDER BY n DESC, untrainable`;
    const { rows } = await this.sql.run({ query, maxRows: MAX_REASONS });
    const reasons = rows.map(([reason, count]) => `${count as number} for "${reason as string}"`);
    return reasons.length === 0 ? '' : `; left out: ${reasons.join(', ')}`;
  }
}
