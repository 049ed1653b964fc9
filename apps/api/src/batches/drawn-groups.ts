import { Injectable } from '@nestjs/common';
import type { BatchGroup } from '@retrace/process';
import { sqlTokens } from '@retrace/store/user-sql';
import { ProblemError } from '../problems/problem.js';
import { shorten, type Violation } from '../problems/violations.js';
import { SqlService } from '../sql/sql.service.js';
import type { BatchRequest } from './batches.dto.js';

const ORDER_BY = {
  random: (seed: number) => `cityHash64(group_id, ${seed})`,
  newest: () => 'max(started_at) DESC',
} as const;

/** Reasons that an error lists. */
const MAX_REASONS = 3;

interface DrawOptions {
  /** Checked before: it stands in the statement. */
  readonly runId: string;
  /** Whether episodes that were played greedily are among them, as baselines of their groups. */
  readonly withGreedy: boolean;
}

/** Draws groups of a run, without replacement. */
@Injectable()
export class DrawnGroups {
  constructor(private readonly sql: SqlService) {}

  /**
   * Draws among the training episodes that ended, of groups that are complete, and that a policy gradient may train on. The condition is a user's, so the
   * whole statement runs as user SQL; `whereViolation` checks that it is one condition.
   *
   * @throws ProblemError `SQL_REFUSED`, `SQL_FAILED`, `SQL_LIMIT_EXCEEDED`; `NO_EPISODES`
   */
  async draw(
    { runId, withGreedy }: DrawOptions,
    { where = 'true', groups = 64, order = 'random', seed = 0 }: BatchRequest,
  ): Promise<BatchGroup[]> {
    const unfit = withGreedy ? UNTRAINABLE : `(${UNTRAINABLE} OR greedy)`;
    const query = `
      SELECT group_id, arraySort(groupArray(episode_id)) AS members FROM (
        SELECT * FROM episodes WHERE run_id = '${runId}' AND split = 'train'
          AND group_id IN (
            SELECT group_id FROM episodes WHERE run_id = '${runId}' AND split = 'train'
            GROUP BY group_id
            HAVING min(sealed) AND countIf(end_reason = 'abandoned') = 0 AND count() >= max(group_size))
          AND episode_id NOT IN (SELECT episode_id FROM steps WHERE run_id = '${runId}' AND ${unfit})
      ) WHERE (\n${where}\n)
      GROUP BY group_id ORDER BY ${ORDER_BY[order](seed)}, group_id`;
    const { rows } = await this.sql.run({ query, maxRows: groups });
    if (rows.length > 0)
      return rows.map(([groupId, members]) => ({
        groupId: groupId as string,
        episodeIds: members as string[],
      }));
    const rule = `no training episode of a complete group that \`where\` takes (${where}) and that may be trained on`;
    throw new ProblemError(
      'NO_EPISODES',
      `Run ${runId} has ${rule}${await this.describeLeftOut(runId, unfit)}`,
    );
  }

  /** Says why episodes of the run may not be trained on; empty where all may. */
  private async describeLeftOut(runId: string, unfit: string): Promise<string> {
    const query = `
      SELECT if(${UNTRAINABLE}, untrainable, 'played greedily') AS reason, uniqExact(episode_id) AS n
      FROM steps WHERE run_id = '${runId}' AND ${unfit}
        AND episode_id IN (SELECT episode_id FROM episodes WHERE run_id = '${runId}' AND split = 'train')
      GROUP BY reason ORDER BY n DESC, reason`;
    const { rows } = await this.sql.run({ query, maxRows: MAX_REASONS });
    const reasons = rows.map(([reason, count]) => `${count as number} for "${reason as string}"`);
    return reasons.length === 0 ? '' : `; left out: ${reasons.join(', ')}`;
  }
}

const UNTRAINABLE = "untrainable != ''";

/** The violation of a condition whose brackets end what it stands in; null where it is one condition, or text that SQL refuses anyway. */
export function whereViolation(where: string): Violation | null {
  let depth = 0;
  try {
    for (const { text } of sqlTokens(where)) {
      if (text === '(') depth++;
      if (text === ')' && --depth < 0) break;
    }
  } catch {
    return null;
  }
  if (depth === 0) return null;
  const rule = 'where must be one condition: each bracket that it closes, it opens, and the other way round';
  return { field: 'where', value: shorten(where), rule };
}
