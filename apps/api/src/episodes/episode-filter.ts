import { isoTime } from '../store/store-time.js';
import type { EpisodeListItem, EpisodesQuery } from './episodes.dto.js';

export type FilterName = Exclude<keyof EpisodesQuery, 'cursor' | 'limit' | 'sort' | 'groupId' | 'update'>;

/** Filters that ask about the records of an episode; the others ask about what lists show of it. */
type RecordFilter = 'text' | 'poorer' | 'minCostUsd' | 'maxCostUsd';

type EpisodeTest = (episode: EpisodeListItem) => boolean;

/** One condition, on columns of the view `episodes` and on an episode that was read: its times are as the store writes them. */
interface EpisodeCondition<Value> {
  readonly sql: string;
  readonly test: (value: Value) => EpisodeTest;
}

const startedMs = ({ startedAt }: EpisodeListItem): number => Date.parse(isoTime(startedAt));

const EPISODE_CONDITIONS: {
  readonly [Name in Exclude<FilterName, RecordFilter>]: EpisodeCondition<NonNullable<EpisodesQuery[Name]>>;
} = {
  split: {
    sql: 'split = {split:String}',
    test: (split) => (episode) => episode.split === split,
  },
  agent: {
    sql: 'agent = {agent:String}',
    test: (agent) => (episode) => episode.agent === agent,
  },
  sealed: {
    sql: 'sealed = {sealed:Bool}',
    test: (sealed) => (episode) => episode.sealed === sealed,
  },
  success: {
    sql: 'success = {success:Bool}',
    test: (success) => (episode) => episode.success === success,
  },
  endReason: {
    sql: 'end_reason = {endReason:String}',
    test: (endReason) => (episode) => episode.endReason === endReason,
  },
  tag: {
    sql: 'has(tags, {tag:String})',
    test: (tag) => (episode) => episode.tags.includes(tag),
  },
  minReturn: {
    sql: '`return` >= {minReturn:Float64}',
    test: (least) => (episode) => episode.return !== null && episode.return >= least,
  },
  maxReturn: {
    sql: '`return` <= {maxReturn:Float64}',
    test: (most) => (episode) => episode.return !== null && episode.return <= most,
  },
  startedFrom: {
    sql: 'toUnixTimestamp64Milli(started_at) >= {startedFrom:Int64}',
    test: (time) => (episode) => startedMs(episode) >= Date.parse(time),
  },
  startedBefore: {
    sql: 'toUnixTimestamp64Milli(started_at) < {startedBefore:Int64}',
    test: (time) => (episode) => startedMs(episode) < Date.parse(time),
  },
};

/** A step that was changed so that it could be stored. */
export const IS_POORER = "position(untrainable, 'made storable: ') > 0";

const HAS_TEXT = ['observation', 'action', 'messages']
  .map((column) => `positionCaseInsensitiveUTF8(${column}, {text:String}) > 0`)
  .join(' OR ');

/** The fifth element of `usage` is the cost. */
const KNOWS_COST = 'notEmpty(usage) AND isFinite(usage[5])';

/** Conditions on the records of an episode: on single ones, or on all of them together. */
const RECORD_CONDITIONS: Readonly<Record<RecordFilter, (among: string) => string>> = {
  text: (among) => `${among} AND (${HAS_TEXT}) GROUP BY episode_id`,
  poorer: (among) => `${among} GROUP BY episode_id HAVING max(${IS_POORER}) = {poorer:Bool}`,
  minCostUsd: (among) =>
    `${among} AND ${KNOWS_COST} GROUP BY episode_id HAVING sum(usage[5]) >= {minCostUsd:Float64}`,
  maxCostUsd: (among) =>
    `${among} AND ${KNOWS_COST} GROUP BY episode_id HAVING sum(usage[5]) <= {maxCostUsd:Float64}`,
};

/**
 * Returns the conditions on an episode for the filters that are set.
 *
 * @param range condition on `episode_id` that bounds the records that are read
 */
export function filterConditions(query: EpisodesQuery, range: string): string[] {
  const among = `SELECT episode_id FROM events
    WHERE run_id = {runId:String} AND ${range} AND kind IN ('StepRecorded', 'EpisodeEnded')`;
  const isSet = ([name]: readonly [string, unknown]) => query[name as FilterName] !== undefined;
  return [
    ...Object.entries(EPISODE_CONDITIONS)
      .filter(isSet)
      .map(([, { sql }]) => sql),
    ...Object.entries(RECORD_CONDITIONS)
      .filter(isSet)
      .map(([, condition]) => `episode_id IN (${condition(among)})`),
  ];
}

/** Whether any filter is set beside the group and the update, which name their episodes. */
export function hasFilter(query: EpisodesQuery): boolean {
  return filterConditions(query, 'true').length > 0;
}

/** Tests an episode for all filters that are set; null where one of them asks about the records of episodes. */
export function episodeTest(query: EpisodesQuery): ((episode: EpisodeListItem) => boolean) | null {
  const isSet = (name: string) => query[name as FilterName] !== undefined;
  if (Object.keys(RECORD_CONDITIONS).some(isSet)) return null;
  const tests = Object.entries(EPISODE_CONDITIONS)
    .filter(([name]) => isSet(name))
    .map(([name, { test }]) => (test as (value: unknown) => EpisodeTest)(query[name as FilterName]));
  return (episode) => tests.every((test) => test(episode));
}

/** Selects the members of a group. */
export const GROUP_CONDITION = `episode_id IN (
  SELECT episode_id
  FROM events
  WHERE run_id = {runId:String} AND episode_id != '' AND kind = 'EpisodeStarted' AND group_id = {groupId:String})`;

/** Selects the batch of an update. */
export const BATCH_CONDITION = `episode_id IN (
  SELECT arrayJoin(JSONExtract(payload, 'episodeIds', 'Array(String)'))
  FROM current_trainer_events
  WHERE run_id = {runId:String} AND kind = 'BatchPlanned' AND update_number = {update:UInt64})`;

/** Values of the placeholders in the conditions above. */
export function filterParams(query: EpisodesQuery): Record<string, unknown> {
  const { cursor: _, limit: __, sort: ___, startedFrom, startedBefore, ...others } = query;
  const filters = {
    ...others,
    startedFrom: milliseconds(startedFrom),
    startedBefore: milliseconds(startedBefore),
  };
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
}

const milliseconds = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : Date.parse(time);
