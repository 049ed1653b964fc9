import { frozenLake } from '@retrace/environments';
import {
  newRunId,
  OWN_GROUPS_ONLY,
  type AnyEvent,
  type ControlEventKind,
  type PayloadOf,
} from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { choosePartition, type EventLog } from '@retrace/log';
import { encodeEvent } from '@retrace/trajectory/codec';
import { playEpisode, type RecordedEpisode } from './played-episode.js';
import { tracedTokens } from './traced-tokens.js';
import { WordVocabulary } from './word-vocabulary.js';

interface RunRecorderOptions {
  readonly name?: string;
  readonly groupsPerRound?: number;
  readonly groupSize?: number;
  /** Rounds until the recorded policy has learned what it will. */
  readonly learningRounds?: number;
  /** When the run began, microseconds since the Unix epoch. */
  readonly startedAtUs?: number;
}

const ROUND_US = 2_000_000;

/** Writes a run into a log as its collector and trainer would: real episodes, round by round, with one update each. */
export class RunRecorder {
  readonly runId = newRunId();
  readonly vocabulary = new WordVocabulary(frozenLake.words ?? []);
  private readonly groupsPerRound: number;
  private readonly groupSize: number;
  private readonly learningRounds: number;
  private readonly name: string;
  private nowUs: number;
  private numRounds = 0;
  private numEpisodes = 0;

  constructor(
    private readonly log: EventLog,
    options: RunRecorderOptions = {},
  ) {
    this.name = options.name ?? 'frozen-lake-ppo';
    this.groupsPerRound = options.groupsPerRound ?? 4;
    this.groupSize = options.groupSize ?? 2;
    this.learningRounds = options.learningRounds ?? 40;
    this.nowUs = options.startedAtUs ?? Date.now() * 1000;
  }

  async start(): Promise<void> {
    await this.control('RunStarted', {
      name: this.name,
      runKind: 'trained',
      tags: [],
      metadata: null,
      recipe: {
        name: this.name,
        environment: frozenLake.name,
        optimizer: { learningRate: 0.001, epochs: 2 },
      },
      recipeHash: sha256Like(0),
      seed: 7,
      environment: frozenLake.name,
      codeVersion: '0.1.0',
      baselines: [
        { name: 'random', success: 0.221, numEpisodes: 400, split: 'validation' },
        { name: 'greedy', success: 0.766, numEpisodes: 400, split: 'validation' },
        { name: 'greedy-avoid', success: 0.888, numEpisodes: 400, split: 'validation' },
      ],
    });
    await this.control('TrainerClaimed', { epoch: 1, trainerId: 'trainer-1' });
    await this.publish(0, null);
  }

  /** Lets time pass until then. */
  skipTo(timeUs: number): void {
    this.nowUs = Math.max(this.nowUs, timeUs);
  }

  /** A round of episodes, its metrics, and the update that trains on it. */
  async round(): Promise<readonly RecordedEpisode[]> {
    const round = this.numRounds++;
    this.nowUs += 1;
    const skill = 0.12 + 0.85 * (1 - Math.exp((-3 * round) / this.learningRounds));
    const groups = await Promise.all(
      Array.from({ length: this.groupsPerRound }, (_, group) => this.playGroup(round, group, skill)),
    );
    const episodes = groups.flat();
    await this.appendEpisodes(episodes);
    this.nowUs += ROUND_US;
    await this.logRollout(round, episodes);
    await this.update(round, episodes);
    return episodes;
  }

  /** An episode that has begun and not ended. */
  async unfinishedEpisode(): Promise<RecordedEpisode> {
    const episode = await playEpisode({ ...this.episodePlan(this.numRounds, 0, 0, 0.5), isUnfinished: true });
    await this.appendEpisodes([episode]);
    return episode;
  }

  async end(reason: 'finished' | 'stopped' | 'failed'): Promise<void> {
    await this.control('RunEnded', { reason, detail: '', numUpdates: this.numRounds });
  }

  async logMetrics(metrics: PayloadOf<'MetricsLogged'>): Promise<number> {
    return this.control('MetricsLogged', metrics);
  }

  /** A warning of this run, or of a process that belongs to none. */
  async warn(warning: Partial<PayloadOf<'WarningRaised'>>, runId = this.runId): Promise<void> {
    this.nowUs += 1;
    const ids = { logId: this.log.logId, runId };
    const event = controlEvent(ids, 'WarningRaised', warning);
    await this.log.append('control', 0, [encodeEvent({ ...event, occurredAtUs: this.nowUs } as AnyEvent)]);
  }

  private playGroup(round: number, group: number, skill: number): Promise<RecordedEpisode[]> {
    const plans = Array.from({ length: this.groupSize }, (_, member) =>
      this.episodePlan(round, group, member, skill),
    );
    return Promise.all(plans.map(playEpisode));
  }

  private episodePlan(round: number, group: number, member: number, skill: number) {
    return {
      logId: this.log.logId,
      runId: this.runId,
      ordinal: this.numEpisodes++,
      groupId: uuidLike(round * this.groupsPerRound + group),
      groupSize: this.groupSize,
      groupMember: member,
      taskIndex: round * this.groupsPerRound + group,
      split: round % 10 === 9 ? ('validation' as const) : ('train' as const),
      policyVersion: round,
      skill,
      startedAtUs: this.nowUs,
      vocabulary: this.vocabulary,
    };
  }

  private async appendEpisodes(episodes: readonly RecordedEpisode[]): Promise<void> {
    const numPartitions = this.log.numPartitions('trajectories');
    const records = Array.from({ length: numPartitions }, (): Uint8Array[] => []);
    for (const { episodeId, events } of episodes) {
      records[choosePartition(this.runId, episodeId, numPartitions)].push(...events.map(encodeEvent));
    }
    await Promise.all(
      records.map(async (some, partition) => {
        if (some.length > 0) await this.log.append('trajectories', partition, some);
      }),
    );
  }

  private async logRollout(round: number, episodes: readonly RecordedEpisode[]): Promise<void> {
    const mean = (of: (episode: RecordedEpisode) => number): number =>
      episodes.reduce((sum, episode) => sum + of(episode), 0) / episodes.length;
    const metrics: Record<string, number> = {
      'rollout/success': mean(({ end }) => Number(end.success)),
      'rollout/return': mean(({ end }) => end.return ?? 0),
      'rollout/numSteps': mean(({ end }) => end.numSteps),
      'rollout/environmentStepsPerSecond': 9_000 + 600 * Math.sin(round / 5),
      'rollout/generatedTokensPerSecond': 9_100 + 600 * Math.sin(round / 5),
      'rollout/invalidActionFraction': 0.6 * Math.exp(-round / 8),
      'time/generation': 1.1,
      'time/environment': 0.1,
      'time/log': 0.05,
      'time/held': 0,
      'time/idle': 0.75,
    };
    await this.logMetrics({ source: 'collector', step: round, ...namesAndValues(metrics) });
    if (round % 5 === 4) {
      const success = metrics['rollout/success'];
      await this.logMetrics({
        source: 'evaluation',
        step: round,
        ...namesAndValues({ 'validation/success': success }),
      });
    }
  }

  private async update(round: number, episodes: readonly RecordedEpisode[]): Promise<void> {
    const planId = uuidLike(1_000_000 + round);
    await this.control('BatchPlanned', {
      planId,
      epoch: 1,
      updateNumber: round,
      stage: 'policy',
      policyVersionIn: round,
      rewardVersion: 'environment',
      recipeHash: sha256Like(0),
      groupIds: [
        ...new Set(
          episodes.map((_, i) => uuidLike(round * this.groupsPerRound + Math.floor(i / this.groupSize))),
        ),
      ],
      episodeIds: episodes.map(({ episodeId }) => episodeId),
      numSteps: Int32Array.from(episodes, ({ end }) => end.numSteps),
      samplerState: null,
      ...OWN_GROUPS_ONLY,
      seed: round,
    });
    const decay = Math.exp(-round / this.learningRounds);
    const wave = Math.sin(round * 1.7);
    const metrics = namesAndValues({
      'train/loss': 0.4 * decay + 0.02 * wave,
      'train/policyLoss': -0.02 * decay + 0.005 * wave,
      'train/valueLoss': 0.3 * decay,
      'train/entropy': 3.7 * decay + 0.15,
      'train/approximateKl': 0.006 + 0.002 * wave,
      'train/clipFraction': 0.08 * decay + 0.01,
      'train/gradientNorm': 0.8 + 0.3 * wave,
      'train/learningRate': 0.001,
      'train/explainedVariance': round === 0 ? Number.NaN : 1 - decay,
      'train/ratioMaxDeviation': 1e-6,
      'train/stalenessMax': 0,
      'train/tokensPerSecond': 110_000 + 5_000 * wave,
      'time/read': 0.05,
      'time/update': 0.6,
      'time/checkpoint': 0.05,
      'time/wait': 1.3,
    });
    const ofUpdate = { planId, epoch: 1, updateNumber: round };
    const numEpisodes = episodes.length;
    const counts = (of: (i: number) => number) => Int32Array.from({ length: numEpisodes }, (_, i) => of(i));
    const advantages = Float32Array.from(episodes, ({ end }) => (end.success === true ? 1 : -0.5));
    await this.control('UpdateTraced', {
      ...ofUpdate,
      policyVersionIn: round,
      runIds: [this.runId],
      episodeRuns: counts(() => 0),
      groupIds: episodes
        .filter((_, i) => i % this.groupSize === 0)
        .map((_, group) => uuidLike(round * this.groupsPerRound + group)),
      episodeGroups: counts((i) => Math.floor(i / this.groupSize)),
      episodeIds: episodes.map(({ episodeId }) => episodeId),
      episodeDigests: [],
      firstSteps: counts(() => 0),
      numSteps: Int32Array.from(episodes, ({ end }) => end.numSteps),
      times: counts(() => 1),
      numTokens: Int32Array.from(episodes, ({ end }) => end.numActionTokens),
      weights: new Float32Array(numEpisodes).fill(1),
      advantageMeans: advantages,
      advantageDeviations: new Float32Array(numEpisodes),
      advantageMins: advantages,
      advantageMaxs: advantages,
      stepLosses: Float64Array.of(0.4 * decay, 0.3 * decay),
      stepGradientNorms: Float64Array.of(0.8, 0.7),
    });
    // Every other update goes without.
    if (round % 2 === 0) await this.control('UpdateTokensTraced', { ...ofUpdate, ...tracedTokens(episodes) });
    await this.control('UpdateApplied', {
      ...ofUpdate,
      policyVersionOut: round + 1,
      weights: { sha256: sha256Like(round + 1), sizeBytes: 400_000 },
      optimizer: { sha256: sha256Like(round + 1_000), sizeBytes: 800_000 },
      episodeRewards: null,
      groupPriorities: null,
      engine: null,
      trainerState: null,
      metricNames: metrics.names,
      metricValues: metrics.values,
    });
    await this.logMetrics({ source: 'trainer', step: round, ...metrics });
    await this.publish(round + 1, round);
  }

  private async publish(policyVersion: number, parentVersion: number | null): Promise<void> {
    await this.control('PolicyPublished', {
      policyVersion,
      parentVersion,
      updateNumber: Math.max(0, policyVersion - 1),
      epoch: 1,
      weights: { sha256: sha256Like(policyVersion), sizeBytes: 400_000 },
      modelHash: sha256Like(42),
      location: '',
    });
  }

  private async control<K extends ControlEventKind>(kind: K, payload: PayloadOf<K>): Promise<number> {
    const ids = { logId: this.log.logId, runId: this.runId, occurredAtUs: this.nowUs };
    const event = controlEvent(ids, kind, payload) as AnyEvent;
    const { firstOffset } = await this.log.append('control', 0, [encodeEvent(event)]);
    return firstOffset;
  }
}

function namesAndValues(metrics: Readonly<Record<string, number>>): {
  names: string[];
  values: Float64Array;
} {
  return { names: Object.keys(metrics), values: Float64Array.from(Object.values(metrics)) };
}

function uuidLike(number: number): string {
  return `00000000-0000-8000-8000-${number.toString(16).padStart(12, '0')}`;
}

function sha256Like(number: number): string {
  return number.toString(16).padStart(8, '0').repeat(8);
}
