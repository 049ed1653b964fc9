import { frozenLake, Pcg32, type EnvironmentSpec, type ScriptedAgent } from '@retrace/environments';
import {
  episodeIdFor,
  newEpisodeEvent,
  type AnyEvent,
  type EpisodeEnded,
  type EpisodeEventKind,
  type PayloadOf,
  type Split,
  type StepRecorded,
} from '@retrace/trajectory';
import type { WordVocabulary } from './word-vocabulary.js';

export interface EpisodePlan {
  readonly logId: string;
  readonly runId: string;
  readonly ordinal: number;
  readonly groupId: string;
  readonly groupSize: number;
  readonly groupMember: number;
  readonly taskIndex: number;
  readonly split: Split;
  readonly policyVersion: number;
  /** Chance of the expert's move in each step; else a random word, which is mostly no move at all. */
  readonly skill: number;
  readonly startedAtUs: number;
  readonly vocabulary: WordVocabulary;
  /** Leaves the episode without its end, as one that is still played. */
  readonly isUnfinished?: boolean;
}

export interface PlayedEpisode {
  readonly episodeId: string;
  readonly events: readonly AnyEvent[];
  readonly end: EpisodeEnded;
}

const STEP_US = 2_000;

/** Plays an episode of frozen lake by a policy of a given skill, and gives its events as a collector would. */
export async function playEpisode(plan: EpisodePlan): Promise<PlayedEpisode> {
  const { logId, runId, split, policyVersion, startedAtUs } = plan;
  const episodeId = episodeIdFor({ runId, ordinal: plan.ordinal });
  const { task, seed } = frozenLake.sampleTask({ split, index: plan.taskIndex, seed: 1 });
  const random = new Pcg32(plan.ordinal + 1);
  const events: AnyEvent[] = [];
  const add = <K extends EpisodeEventKind>(kind: K, payload: PayloadOf<K>): void => {
    const seq = events.length;
    const occurredAtUs = startedAtUs + seq * STEP_US;
    events.push(newEpisodeEvent({ kind, logId, runId, episodeId, seq, occurredAtUs, payload }) as AnyEvent);
  };

  add('EpisodeStarted', {
    groupId: plan.groupId,
    groupSize: plan.groupSize,
    groupMember: plan.groupMember,
    environment: frozenLake.name,
    task,
    environmentSeed: seed,
    samplingSeed: plan.ordinal,
    split,
    agent: 'policy',
    forkedFrom: null,
  });

  const environment = frozenLake.create();
  const expert = agentOf(frozenLake, 'expert');
  const words = frozenLake.words;
  let observation = await environment.reset({ task, seed });
  let totalReward = 0;
  let numTokens = 0;
  let numSteps = 0;
  let success: boolean | null = null;
  let reason: EpisodeEnded['endReason'] = 'truncated';
  for (let isOver = false; !isOver; numSteps++) {
    const isSkilled = random.nextFloat() < plan.skill;
    const action = isSkilled
      ? expert.act(environment, observation, () => random.nextFloat())
      : words[Math.floor(random.nextFloat() * words.length)];
    const result = await environment.step(action);
    const probability = isSkilled ? plan.skill : (1 - plan.skill) / words.length;
    const tokens = tokenColumns(plan.vocabulary, {
      prompt: observation.text,
      action,
      probability,
      policyVersion,
    });
    add('StepRecorded', {
      ...tokens,
      step: numSteps,
      observation: observation.text,
      action,
      parsedAction: result.parsedAction,
      actionValid: result.actionValid,
      anchor: observation.anchor,
      reward: result.reward,
      rewardNames: result.rewardNames,
      rewardValues: Float64Array.from(result.rewardValues),
      terminated: result.terminated,
      truncated: result.truncated,
      info: { legalActions: [...(observation.legalActions ?? [])] },
      keptPrefixTokens: 0,
      sampling: { temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 1 },
      engine: 'retrace',
      model: 'tiny',
      tokenizerHash: plan.vocabulary.hash,
      logprobMode: 'processed',
      generationMs: 1.5,
      environmentMs: 0.02,
      snapshot: null,
    });
    totalReward += result.reward ?? 0;
    numTokens += tokens.tokenIds.length;
    success = result.success;
    reason = result.terminated ? 'terminated' : 'truncated';
    isOver = result.terminated || result.truncated;
    observation = result.observation;
  }

  const finalTokenIds = Int32Array.from(plan.vocabulary.encode(observation.text));
  const end: EpisodeEnded = {
    endReason: reason,
    endDetail: '',
    finalObservation: observation.text,
    finalTokenIds,
    finalKeptPrefixTokens: 0,
    numSteps,
    return: totalReward,
    success,
    numTokens,
    numActionTokens: numSteps,
    policyVersionMin: policyVersion,
    policyVersionMax: policyVersion,
  };
  if (!plan.isUnfinished) add('EpisodeEnded', end);
  return { episodeId, events, end };
}

function tokenColumns(
  vocabulary: WordVocabulary,
  turn: {
    readonly prompt: string;
    readonly action: string;
    readonly probability: number;
    readonly policyVersion: number;
  },
): Pick<
  StepRecorded,
  'tokenIds' | 'actionMask' | 'tokenLogprobs' | 'tokenRawLogprobs' | 'tokenEntropies' | 'tokenPolicyVersions'
> {
  const prompt = vocabulary.encode(turn.prompt);
  const action = vocabulary.encode(turn.action);
  const isSampled = [...prompt.map(() => 0), ...action.map(() => 1)];
  const logprob = Math.log(turn.probability);
  return {
    tokenIds: Int32Array.from([...prompt, ...action]),
    actionMask: Uint8Array.from(isSampled),
    tokenLogprobs: Float32Array.from(isSampled, (sampled) => (sampled ? logprob : 0)),
    tokenRawLogprobs: null,
    tokenEntropies: Float32Array.from(isSampled, (sampled) =>
      sampled ? -2 * turn.probability * logprob : 0,
    ),
    tokenPolicyVersions: Int32Array.from(isSampled, () => turn.policyVersion),
  };
}

function agentOf(spec: EnvironmentSpec, name: string): ScriptedAgent {
  const agent = spec.agents.find((each) => each.name === name);
  if (!agent) throw new Error(`${spec.name} has no agent ${name}`);
  return agent;
}
