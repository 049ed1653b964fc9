import type { KeyScope } from '@retrace/process';
import { withFewEpisodes, withoutTokens, type Shortening } from './shortened-answers.js';

/** A tool for agents: an operation of the API, under the API's own description and rules. */
export interface Tool {
  readonly name: string;
  /** Method and path, as the API's document has them. */
  readonly operation: string;
  /** Scope that its key needs. */
  readonly scope: KeyScope;
  /** Changes what the server does, so that it is offered only where that is allowed. */
  readonly isControl?: true;
  /** The operation asks for something that is computed; the tool waits for it. */
  readonly waits?: 'replayId' | 'whatIfId';
  /** Makes the answer short enough to be read. */
  readonly shortening?: Shortening;
}

const RUN = '/api/runs/{runId}';
const UPDATE = `${RUN}/updates/{updateNumber}`;

const reading = (name: string, path: string): Tool => ({ name, operation: `GET ${path}`, scope: 'read' });

const controlling = (name: string, operation: string): Tool => ({
  ...{ name, operation, scope: operation.startsWith('GET ') ? 'read' : 'admin', isControl: true },
});

/** In the order in which an agent meets them. */
export const TOOLS: readonly Tool[] = [
  reading('get_health', '/api/health'),
  reading('list_runs', '/api/runs'),
  reading('get_run', RUN),
  reading('get_totals', `${RUN}/totals`),
  reading('get_metrics', `${RUN}/metrics`),
  reading('list_warnings', `${RUN}/warnings`),
  reading('list_alarms', '/api/alarms'),
  reading('list_silences', '/api/alarms/silences'),
  reading('list_validations', `${RUN}/validations`),
  reading('list_policies', `${RUN}/policies`),
  reading('compare_recipes', `${RUN}/recipe-differences/{otherRunId}`),
  reading('list_episodes', `${RUN}/episodes`),
  { ...reading('get_episode', `${RUN}/episodes/{episodeId}`), shortening: withoutTokens },
  reading('list_updates', `${RUN}/updates`),
  reading('get_update', UPDATE),
  reading('list_update_episodes', `${UPDATE}/inputs`),
  reading('get_update_distributions', `${UPDATE}/distributions`),
  reading('get_update_lineage', `${UPDATE}/lineage`),
  { name: 'replay_update', operation: `POST ${RUN}/replays`, scope: 'sql', waits: 'replayId' },
  reading('get_replay', `${RUN}/replays/{replayId}`),
  {
    ...{ name: 'what_if', operation: `POST ${RUN}/what-ifs`, scope: 'sql', waits: 'whatIfId' },
    shortening: withFewEpisodes,
  },
  { ...reading('get_what_if', `${RUN}/what-ifs/{whatIfId}`), shortening: withFewEpisodes },
  reading('list_reward_versions', `${RUN}/reward-versions`),
  reading('audit_rewards', `${RUN}/reward-versions/{version}/audit`),
  reading('compare_rewards', `${RUN}/reward-versions/{version}/differences/{otherVersion}`),
  reading('list_evaluations', '/api/plays'),
  reading('get_evaluation', '/api/plays/{playId}'),
  reading('list_datasets', '/api/datasets'),
  { name: 'describe_tables', operation: 'GET /api/sql/schema', scope: 'sql' },
  { name: 'run_sql', operation: 'POST /api/sql', scope: 'sql' },
  controlling('list_recipes', 'GET /api/recipes'),
  controlling('get_queue', 'GET /api/queue'),
  controlling('start_run', 'POST /api/queue'),
  controlling('cancel_queued_run', 'DELETE /api/queue/{queueId}'),
  controlling('stop_or_resume_run', `POST ${RUN}/training`),
];

/**
 * The tools that an agent gets.
 *
 * @param scopes of its key, `admin` being all of them; null where the server asks for none
 */
export function offeredTools(scopes: readonly KeyScope[] | null, allowControl: boolean): readonly Tool[] {
  return TOOLS.filter(
    ({ scope, isControl }) =>
      (scopes === null || scopes.includes(scope) || scopes.includes('admin')) &&
      (isControl === undefined || allowControl),
  );
}
