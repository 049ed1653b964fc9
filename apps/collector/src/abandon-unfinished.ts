import { newEpisodeEvent, type EventLog, type GroupClosed, type RunState } from '@retrace/trajectory';
import { decodeEvent, encodeEvent } from '@retrace/trajectory/codec';

interface FoundEpisode {
  readonly episodeId: string;
  readonly groupId: string;
  readonly groupSize: number;
  readonly split: GroupClosed['split'];
  readonly partition: number;
  numEvents: number;
  numSteps: number;
  ended: boolean;
  numTokens: number;
  numActionTokens: number;
}

const cursorGroup = (runId: string) => `collector/${runId}`;

/** Remembers where the trajectories of the coming round begin, so that recovery reads only that round. */
export async function markRoundStart(log: EventLog, runId: string): Promise<void> {
  for (let partition = 0; partition < log.numPartitions('trajectories'); partition++) {
    const end = await log.endOffset('trajectories', partition);
    await log.commitCursor(cursorGroup(runId), 'trajectories', partition, end);
  }
}

/**
 * After a crash: seals the episodes that the last collector left open as abandoned, and returns a closing for each group it
 * left unclosed, so that the log accounts for every episode that was started. The round is then collected again under new ids.
 *
 * @param round recorded in the returned groups
 */
export async function abandonUnfinished(
  log: EventLog,
  run: RunState,
  nowUs: () => number,
): Promise<GroupClosed[]> {
  const episodes = await findUnclosed(log, run);
  for (const episode of episodes) {
    if (!episode.ended) await seal(log, run, episode, nowUs());
  }
  const groups = new Map<string, FoundEpisode[]>();
  for (const episode of episodes) {
    const members = groups.get(episode.groupId);
    if (members) members.push(episode);
    else groups.set(episode.groupId, [episode]);
  }
  return [...groups].map(([groupId, members]) => ({
    groupId,
    round: run.groups.lastRound + 1,
    split: members[0].split,
    reason: 'abandoned',
    groupSize: members[0].groupSize,
    episodeIds: members.map((member) => member.episodeId),
    numSteps: Int32Array.from(members, (member) => member.numSteps),
    policyVersionMin: -1,
    policyVersionMax: -1,
    trainable: false,
  }));
}

async function findUnclosed(log: EventLog, run: RunState): Promise<FoundEpisode[]> {
  const found = new Map<string, FoundEpisode>();
  for (let partition = 0; partition < log.numPartitions('trajectories'); partition++) {
    let offset = (await log.readCursor(cursorGroup(run.runId), 'trajectories', partition)) ?? 0;
    for (;;) {
      const records = await log.read('trajectories', partition, offset);
      if (records.length === 0) break;
      offset = records[records.length - 1].offset + 1;
      for (const { bytes } of records) {
        const decoded = decodeEvent(bytes);
        if (!decoded.ok || decoded.event.runId !== run.runId) continue;
        const { event } = decoded;
        if (event.kind === 'EpisodeStarted' && !run.groups.hasClosed(event.payload.groupId)) {
          const { groupId, groupSize, split } = event.payload;
          found.set(event.episodeId, {
            episodeId: event.episodeId,
            groupId,
            groupSize,
            split,
            partition,
            numEvents: 0,
            numSteps: 0,
            ended: false,
            numTokens: 0,
            numActionTokens: 0,
          });
        }
        const episode = found.get(event.episodeId);
        if (!episode) continue;
        episode.numEvents++;
        if (event.kind === 'StepRecorded') {
          episode.numSteps++;
          episode.numTokens += event.payload.tokenIds.length;
          episode.numActionTokens += event.payload.actionMask.reduce((sum, bit) => sum + bit, 0);
        }
        if (event.kind === 'EpisodeEnded') episode.ended = true;
      }
    }
  }
  return [...found.values()];
}

async function seal(
  log: EventLog,
  run: RunState,
  episode: FoundEpisode,
  occurredAtUs: number,
): Promise<void> {
  const event = newEpisodeEvent({
    kind: 'EpisodeEnded',
    logId: log.logId,
    runId: run.runId,
    episodeId: episode.episodeId,
    seq: episode.numEvents,
    occurredAtUs,
    payload: {
      endReason: 'abandoned',
      endDetail: 'the collector stopped before the episode ended',
      finalObservation: '',
      finalTokenIds: new Int32Array(0),
      finalKeptPrefixTokens: 0,
      numSteps: episode.numSteps,
      return: null,
      success: null,
      numTokens: episode.numTokens,
      numActionTokens: episode.numActionTokens,
      policyVersionMin: -1,
      policyVersionMax: -1,
    },
  });
  await log.append('trajectories', episode.partition, [encodeEvent(event)]);
}
