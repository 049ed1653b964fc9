import { isoTime } from '../store/store-time.js';
import type { EpisodeListItem, EpisodesQuery } from './episodes.dto.js';

type FilterName = Exclude<keyof EpisodesQuery, 'cursor' | 'limit' | 'sort' | 'groupId' | 'update'>;

/** Conditions on columns of the view `episodes`. */
const EPISODE_CONDITIONS: Partial<Record<FilterName, string>> = {
  split: 'split = {split:String}',
  agent: 'agent = {agent:String}',
  sealed: 'sealed = {sealed:Bool}',
  success: 'success = {success:Bool}',
  endReason: 'end_reason = {endReason:String}',
  tag: 'has(tags, {tag:String})',
  minReturn: '`return` >= {minReturn:Float64}',
  maxReturn: '`return` <= {maxReturn:Float64}',
  startedFrom: 'toUnixTimestamp64Milli(started_at) >= {startedFrom:Int64}',
  startedBefore: 'toUnixTimestamp64Milli(started_at) < {startedBefore:Int64}',
};

type EpisodeTest = (episode: EpisodeListItem) => boolean;

const startedMs = ({ startedAt }: EpisodeListItem): number => Date.parse(isoTime(startedAt));

/** The same conditions on an episode that was read: its times are as the store writes them. */
const EPISODE_TESTS: {
  readonly [Name in FilterName]?: (value: NonNullable<EpisodesQuery[Name]>) => EpisodeTest;
} = {
  split: (split) => (episode) => episode.split === split,
  agent: (agent) => (episode) => episode.agent === agent,
  sealed: (sealed) => (episode) => episode.sealed === sealed,
  success: (success) => (episode) => episode.success === success,
  endReason: (endReason) => (episode) => episode.endReason === endReason,
  tag: (tag) => (episode) => episode.tags.includes(tag),
  minReturn: (least) => (episode) => episode.return !== null && episode.return >= least,
  maxReturn: (most) => (episode) => episode.return !== null && episode.return <= most,
  startedFrom: (time) => (episode) => startedMs(episode) >= Date.parse(time),
  startedBefore: (time) => (episode) => startedMs(episode) < Date.parse(time),
};

/** A step that was changed so that it could be stored. */
export const IS_POORER = "position(untrainable, 'made storable: ') > 0";

const HAS_TEXT = ['observation', 'action', 'messages']
  .map((column) => `positionCaseInsensitiveUTF8(${column}, {text:String}) > 0`)
  .join(' OR ');

/** The fifth element of `usage` is the cost. */
const KNOWS_COST = 'notEmpty(usage) AND isFinite(usage[5])';

/** Conditions on the records of an episode: on single ones, or on all of them together. */
const RECORD_CONDITIONS: Partial<Record<FilterName, (among: string) => string>> = {
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
      .map(([, condition]) => condition),
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
  const tests = (Object.keys(EPISODE_TESTS) as FilterName[]).filter(isSet).map((name) => {
    const makeTest = EPISODE_TESTS[name] as (value: unknown) => EpisodeTest;
    return makeTest(query[name]);
  });
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
