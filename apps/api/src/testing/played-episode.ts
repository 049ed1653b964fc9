import { frozenLake, type EnvironmentSpec, type ScriptedAgent, type StepResult } from '@retrace/environments';
import { Pcg32 } from '@retrace/random';
import type {
  AnyEvent,
  EpisodeEnded,
  Json,
  Split,
  StepRecorded,
  StepTokenColumns,
} from '@retrace/trajectory';
import { episodeEvents, sampleStep } from '@retrace/trajectory/testing';
import type { WordVocabulary } from './word-vocabulary.js';

interface EpisodePlan {
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
  readonly metadata?: Json;
}

export interface RecordedEpisode {
  readonly episodeId: string;
  readonly events: readonly AnyEvent[];
  readonly end: EpisodeEnded;
}

const STEP_US = 2_000;

/** Plays an episode of frozen lake by a policy of a given skill, and gives its events as a collector would. */
export async function playEpisode(plan: EpisodePlan): Promise<RecordedEpisode> {
  const { logId, runId, ordinal, groupId, groupSize, groupMember, split } = plan;
  const { task, seed } = frozenLake.sampleTask({ split, index: plan.taskIndex, seed: 1 });
  const { steps, final } = await play(plan, { task, seed });
  const events = episodeEvents({
    ...{ logId, runId, ordinal, steps, occurredAtUs: plan.startedAtUs, intervalUs: STEP_US },
    started: {
      ...{ groupId, groupSize, groupMember, task, split },
      environment: frozenLake.name,
      environmentSeed: seed,
      samplingSeed: ordinal,
      metadata: plan.metadata ?? null,
    },
    ended: {
      endReason: final.terminated ? 'terminated' : 'truncated',
      success: final.success,
      finalObservation: final.observation.text,
      finalTokenIds: Int32Array.from(plan.vocabulary.encode(final.observation.text)),
      finalKeptPrefixTokens: 0,
    },
  });
  const { episodeId, payload } = events[events.length - 1];
  return {
    episodeId,
    events: plan.isUnfinished ? events.slice(0, -1) : events,
    end: payload as EpisodeEnded,
  };
}

async function play(
  plan: EpisodePlan,
  start: { readonly task: Json; readonly seed: number },
): Promise<{ readonly steps: StepRecorded[]; readonly final: StepResult }> {
  const random = new Pcg32(plan.ordinal + 1);
  const environment = frozenLake.create();
  const expert = requireAgent(frozenLake, 'expert');
  const words = frozenLake.words ?? [];
  const steps: StepRecorded[] = [];
  for (let observation = await environment.reset(start); ;) {
    const isSkilled = random.nextFloat() < plan.skill;
    const action = isSkilled
      ? expert.act(environment, observation, () => random.nextFloat())
      : words[Math.floor(random.nextFloat() * words.length)];
    const result = await environment.step(action);
    const probability = isSkilled ? plan.skill : (1 - plan.skill) / words.length;
    steps.push({
      ...sampleStep({ step: steps.length }),
      ...tokenColumns(plan, { prompt: observation.text, action, probability }),
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
      sampling: { temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 1 },
      model: 'tiny',
      tokenizerHash: plan.vocabulary.hash,
      generationMs: 1.5,
    });
    if (result.terminated || result.truncated) return { steps, final: result };
    observation = result.observation;
  }
}

function tokenColumns(
  { vocabulary, policyVersion }: EpisodePlan,
  turn: { readonly prompt: string; readonly action: string; readonly probability: number },
): StepTokenColumns {
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
    tokenPolicyVersions: Int32Array.from(isSampled, () => policyVersion),
    tokenRoutedExperts: null,
  };
}

function requireAgent(spec: EnvironmentSpec, name: string): ScriptedAgent {
  const agent = spec.agents.find((each) => each.name === name);
  if (!agent) throw new Error(`${spec.name} has no agent ${name}`);
  return agent;
}
