import { choosePartition, type EventLog } from '@retrace/log';
import { frozenLake } from '@retrace/environments';
import { controlEvent } from '@retrace/trajectory/testing';
import { encodeEvent } from '@retrace/trajectory/codec';
import type { AnyEvent } from '@retrace/trajectory';
import { playEpisode, type RecordedEpisode } from './played-episode.js';
import { WordVocabulary } from './word-vocabulary.js';

interface ValidationPlan {
  readonly runId: string;
  readonly policyVersion: number;
  readonly numTasks: number;
  /** Chance of the expert's move in each step. */
  readonly skill: number;
  /** Ordinal of its first episode, which no other episode of the run has. */
  readonly firstOrdinal: number;
}

/** Writes the validation of a policy into a log as a validator would: greedy episodes of the first tasks of the split, and the figures of them. */
export async function recordValidation(log: EventLog, plan: ValidationPlan): Promise<RecordedEpisode[]> {
  const { runId, policyVersion, numTasks, skill, firstOrdinal } = plan;
  const startedAtUs = Date.now() * 1000;
  const vocabulary = new WordVocabulary(frozenLake.words ?? []);
  const episodes: RecordedEpisode[] = [];
  for (let taskIndex = 0; taskIndex < numTasks; taskIndex++) {
    const ordinal = firstOrdinal + taskIndex;
    const episode = await playEpisode({
      ...{ logId: log.logId, runId, ordinal, taskIndex, policyVersion, skill, startedAtUs, vocabulary },
      groupId: `00000000-0000-8000-9000-${ordinal.toString(16).padStart(12, '0')}`,
      groupSize: 1,
      groupMember: 0,
      split: 'validation',
      metadata: { validation: { policyVersion, decoding: 'greedy' } },
    });
    const partition = choosePartition(runId, episode.episodeId, log.numPartitions('trajectories'));
    await log.append('trajectories', partition, episode.events.map(encodeEvent));
    episodes.push(episode);
  }
  const numSuccesses = episodes.filter(({ end }) => end.success === true).length;
  const meanOf = (sum: number) => (numTasks === 0 ? null : sum / numTasks);
  const successRate = meanOf(numSuccesses);
  const validated = controlEvent({ logId: log.logId, runId, occurredAtUs: startedAtUs }, 'PolicyValidated', {
    policyVersion,
    updateNumber: policyVersion,
    split: 'validation',
    seconds: 0.5,
    rows: [
      {
        ...{ decoding: 'greedy', family: null, numTasks, numEpisodes: numTasks, numSuccesses, successRate },
        ...{ numUnknown: 0, numFailed: 0, successLow: 0, successHigh: 1, passAtK: [] },
        meanReturn: meanOf(episodes.reduce((sum, { end }) => sum + (end.return ?? 0), 0)),
      },
    ],
  });
  await log.append('control', 0, [encodeEvent(validated as AnyEvent)]);
  return episodes;
}
