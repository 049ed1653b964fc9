import {
  comparesGroups,
  ConfigError,
  parseRecipe,
  collectsForTraining,
  readsBehaviorLogprobs,
  type DataSourceRecipe,
  type Recipe,
} from '@retrace/config';
import type { SelectionRow, TrainingRules, TrainingSet } from '@retrace/datasets';
import type { EventLog } from '@retrace/log';
import type { StoreClient } from '@retrace/store';
import type { ControlFold } from '@retrace/trajectory';
import { selectRun, type OnChosen } from '../choose/select-run.js';
import { RunsError } from '../runs-error.js';

/** Log and store of the episodes that a run trains on. */
export interface DataSession {
  readonly client: StoreClient;
  readonly log: EventLog;
  /** Brings the store up to date with the log. */
  catchUp(): Promise<void>;
  /** Reads the whole result of a user's query, with the rights and limits of the store's read-only user. */
  readUserRows(sql: string): Promise<readonly SelectionRow[]>;
}

interface CompleteOptions {
  readonly session: DataSession;
  readonly state: ControlFold;
  readonly codeVersion: string;
  readonly onNotice: (line: string) => void;
  readonly onChosen?: OnChosen;
}

/**
 * Completes a recipe that trains on stored data: the episodes that each source has now become a data set in the log, which never changes, and
 * `numUpdates` follows from `epochs`.
 *
 * @throws DatasetError `SELECTION_INVALID`, `NOT_TRAINABLE`, `NO_ROWS`, `DATASET_UNKNOWN`; RunsError `RUN_UNKNOWN`, `OPTION_INVALID` for a run without groups;
 *   ConfigError `RECIPE_INVALID` for a source with fewer groups than an update takes
 */
export async function completeData(recipe: Recipe, options: CompleteOptions): Promise<Recipe> {
  if (!recipe.data) return recipe;
  await options.session.catchUp();
  const rules = await readRules(recipe);
  const sources: DataSourceRecipe[] = [];
  for (const [s, source] of recipe.data.sources.entries()) {
    if (source.from === 'own') {
      sources.push(source);
      continue;
    }
    const { dataset, contentHash, numEpisodes, numGroups, skipped } = await makeSet(source, {
      ...options,
      rules,
    });
    for (const { reason, count } of skipped)
      options.onNotice(`data.sources.${s}: left out ${count.toLocaleString('en')} × ${reason}`);
    options.onNotice(
      `data.sources.${s}: ${numEpisodes.toLocaleString('en')} episodes in ${numGroups.toLocaleString('en')} groups, data set ${dataset}`,
    );
    requireEnough(recipe, s, numGroups);
    sources.push({ ...source, contents: { dataset, contentHash, numEpisodes, numGroups } });
  }
  const plain = JSON.parse(JSON.stringify(recipe)) as Record<string, unknown>;
  const reward = readsAssigned(recipe) ? await pinnedReward(recipe, sources, options.session) : recipe.reward;
  return parseRecipe({ ...plain, reward, numUpdates: countUpdates(recipe, sources), data: { sources } });
}

/** The reward that reads assigned rewards as they are now, and as they are now when an update is made again. */
async function pinnedReward(
  { reward }: Recipe,
  sources: readonly DataSourceRecipe[],
  { client }: Pick<DataSession, 'client'>,
): Promise<Recipe['reward']> {
  const { withAssignedUntil } = await import('@retrace/rewards/scoring');
  const rows = await client.queryRows<{ readonly runId: string }>(
    'SELECT DISTINCT run_id AS runId FROM dataset_episodes WHERE dataset IN {datasets:Array(String)}',
    { params: { datasets: sources.flatMap(({ contents }) => contents?.dataset ?? []) } },
  );
  const runIds = rows.map(({ runId }) => runId);
  const components = await withAssignedUntil(reward.components, { client, runIds });
  return {
    ...reward,
    components: components.map((component, c) =>
      component === reward.components[c] ? component : { ...component, isUntilFilledIn: true },
    ),
  };
}

/** @throws ConfigError `RECIPE_INVALID` where rewards are read that nobody can have given yet */
export function requireRewarded(recipe: Recipe): void {
  if (!readsAssigned(recipe) || !collectsForTraining(recipe)) return;
  const rule = 'must be absent where episodes are collected for training: nobody has rewarded them yet';
  throw new ConfigError(
    'RECIPE_INVALID',
    `reward.components: got "assigned", ${rule}; train with --from-run`,
  );
}

function readsAssigned({ reward }: Recipe): boolean {
  return reward.components.some((component) => component.reward === 'assigned');
}

async function makeSet(
  source: DataSourceRecipe,
  { session, state, rules, codeVersion, onChosen }: CompleteOptions & { readonly rules: TrainingRules },
): Promise<TrainingSet> {
  const { checkTrainingSet, createTrainingSet } = await import('@retrace/datasets');
  if (source.dataset !== undefined) return checkTrainingSet({ ...session, rules }, source.dataset);
  const { sql, rows } =
    source.run === undefined
      ? rowsOfQuery(session, source.query ?? '')
      : rowsOfRun(session, selectRun(state.runs, source.run, { onChosen }).runId);
  return createTrainingSet({
    ...session,
    sql,
    rows,
    rules,
    codeVersion,
    bringUpToDate: () => session.catchUp(),
  });
}

function rowsOfQuery(session: Pick<DataSession, 'readUserRows'>, sql: string) {
  return { sql, rows: read() };

  async function* read(): AsyncGenerator<SelectionRow> {
    yield* await session.readUserRows(sql);
  }
}

/** Of view `groups`. */
const IS_COMPLETE = "split = 'train' AND trainable AND reason != 'abandoned'";

/** The runs that have groups which were complete, for training. */
export async function runsToTrainOn(client: StoreClient): Promise<ReadonlySet<string>> {
  const rows = await client.queryRows<{ run_id: string }>(
    `SELECT DISTINCT run_id FROM groups WHERE ${IS_COMPLETE}`,
  );
  return new Set(rows.map(({ run_id: runId }) => runId));
}

/** The groups of a run that were complete, for training. */
function rowsOfRun({ client }: Pick<DataSession, 'client'>, runId: string) {
  const sql = `SELECT run_id, arrayJoin(episode_ids) AS episode_id FROM groups
WHERE run_id = '${runId}' AND ${IS_COMPLETE}`;
  return { sql, rows: read() };

  async function* read(): AsyncGenerator<SelectionRow> {
    const rows = await client.queryRows<SelectionRow>(
      sql.replace('run_id, arrayJoin', 'run_id AS run_id, arrayJoin'),
    );
    if (rows.length === 0) throw await noDataError(client, runId);
    yield* rows;
  }
}

/** Says why a run has no group to train on. */
async function noDataError(client: StoreClient, runId: string): Promise<RunsError> {
  const [counts] = await client.queryRows<{ announced: number; closed: number; trainable: number }>(
    `SELECT (SELECT toUInt32(uniqExact(group_id)) FROM episodes
         WHERE run_id = {runId:String} AND split = 'train' AND group_id != '') AS announced,
       toUInt32(count()) AS closed, toUInt32(countIf(trainable AND reason != 'abandoned')) AS trainable
     FROM groups WHERE run_id = {runId:String} AND split = 'train'`,
    { params: { runId } },
  );
  const { announced, closed, trainable } = counts;
  const howToClose = `POST /api/runs/${runId}/end with {"reason": "finished"} closes the groups of a recorded run whose members have all ended; `;
  return new RunsError(
    'OPTION_INVALID',
    `run ${runId} has no group to train on: of ${announced} groups for training ${closed} are closed, and ${trainable} of those trainable. ` +
      `${closed < announced ? howToClose : ''}` +
      'column "untrainable" of view "steps" says what keeps a step from training. --from takes any episodes',
  );
}

async function readRules(recipe: Recipe): Promise<TrainingRules> {
  const { readEnvironment } = await import('@retrace/environment-sources');
  const { openPolicyText } = await import('@retrace/policy');
  const { tokenizer } = await openPolicyText({
    tokenizer: recipe.context.tokenizer,
    words: (await readEnvironment(recipe.environment)).words,
    directory: recipe.policy?.model,
  });
  const { temperature } = recipe.collection;
  return {
    tokenizerHash: tokenizer.hash,
    temperature,
    readsLogprobs: readsBehaviorLogprobs(recipe),
    comparesGroups: comparesGroups(recipe),
  };
}

function requireEnough({ collection, data }: Recipe, source: number, numGroups: number): void {
  const shares = data?.sources.map(({ share = 1 }) => share) ?? [];
  const total = shares.reduce((sum, share) => sum + share, 0);
  const needed = Math.ceil((collection.groupsPerRound * shares[source]) / total);
  if (numGroups >= needed) return;
  throw new ConfigError(
    'RECIPE_INVALID',
    `data.sources.${source}: has ${numGroups} groups, must have at least ${needed}, its share of the ${collection.groupsPerRound} groups ` +
      'of an update; choose more episodes, or lower collection.groupsPerRound',
  );
}

/** ⌊epochs · groups / groups of an update⌋ where all data is stored, else as the recipe says. */
function countUpdates(recipe: Recipe, sources: readonly DataSourceRecipe[]): number {
  const { epochs, numUpdates, collection } = recipe;
  if (epochs === undefined || collectsForTraining(recipe)) return numUpdates;
  const numGroups = sources.reduce((sum, { contents }) => sum + (contents?.numGroups ?? 0), 0);
  const updates = Math.floor((epochs * numGroups) / collection.groupsPerRound);
  if (updates >= 1) return updates;
  throw new ConfigError(
    'RECIPE_INVALID',
    `epochs: got ${epochs}, with ${numGroups} groups that is less than one update of ${collection.groupsPerRound} groups`,
  );
}
