import {
  getEnvironment,
  type Environment,
  type EnvironmentSpec,
  type StepResult,
} from '@retrace/environments';
import { openPolicyText } from '@retrace/policy';
import type { AnyEvent } from '@retrace/trajectory';
import { expect, it } from 'vitest';
import { ScriptedActor, scriptedAgent } from '../actors/scripted-actor.js';
import { directLoop } from '../loop/direct-loop.js';
import type { AskMove, EpisodeLoop } from '../loop/episode-loop.js';
import type { EpisodeFailure, Turn } from '../turn/turn.js';
import type { SlotContext } from './episode-slot.js';
import { createSlots, playEpisodes } from './play-episodes.js';

const ID = '01936d00-0000-7000-8000-000000000001';
const MANY = 5_000;

interface PlayOptions {
  /** Answers an action in place of the environment. */
  readonly step?: (own: Environment['step'], action: string) => ReturnType<Environment['step']>;
  /** Reads a turn in place of the loop. */
  readonly read?: (own: EpisodeLoop['read'], turn: Turn) => ReturnType<EpisodeLoop['read']>;
  /** Fails the agent's turns. */
  readonly failure?: EpisodeFailure;
  readonly signal?: AbortSignal;
}

/** Plays an episode of the expert in a maze. Returns its events, to which an environment that answers after the end may still add, and how many mazes were made. */
async function play({ step, read, failure, signal = new AbortController().signal }: PlayOptions) {
  const maze = getEnvironment('maze');
  let numMazes = 0;
  const create = (): Environment => {
    numMazes += 1;
    const environment = maze.create();
    const own = environment.step.bind(environment);
    if (step) environment.step = (action) => step(own, action);
    return environment;
  };
  const spec: EnvironmentSpec = { ...maze, create };
  const text = await openPolicyText({ tokenizer: 'byte', words: null, directory: undefined });
  const actor = new ScriptedActor(scriptedAgent(spec, 'expert'), text, 1);
  const act = actor.step.bind(actor);
  if (failure) actor.step = async () => (await act()).map(({ slot }) => ({ slot, failure }));
  const begin = directLoop({ window: 'history', maxNewTokens: 1, whenContextFull: 'truncate' });
  const events: AnyEvent[] = [];
  const context: SlotContext = {
    ...{ actor, prompts: text.prompts },
    beginLoop: (start) => {
      const loop = begin(start);
      const own = loop.read.bind(loop);
      if (read) loop.read = (turn) => read(own, turn);
      return loop;
    },
    limits: {
      ...{ resetTimeoutMs: 60_000, stepTimeoutMs: 60_000, maxFailuresInARow: 1 },
      ...{ truncatedSuccess: null, whenContextFull: 'truncate' },
    },
    recorder: {
      ...{ runId: ID, logId: ID, environment: spec.name, engine: 'test', model: 'test' },
      ...{ tokenizerHash: text.tokenizer.hash, nowUs: () => 0 },
    },
    emit: (event) => events.push(event),
    ended: () => undefined,
    onEnvironmentMs: () => undefined,
  };
  const slots = createSlots(spec, 1, context);
  const group = {
    ...{ groupId: 'g', place: 0, groupSize: 1, round: 0, agent: 'expert', trainable: false },
    sampled: spec.sampleTask({ split: 'train', index: 3, seed: 7 }),
    ...{ failure: null, split: 'train' as const },
  };
  await playEpisodes({
    ...{ slots, context, signal },
    episodes: [{ episodeId: ID, group, groupMember: 0, samplingSeed: 5, isGreedyBaseline: false }],
    beforeTurns: () => Promise.resolve(),
    betweenActs: () => Promise.resolve(),
    onGenerationMs: () => undefined,
  });
  for (const slot of slots) slot.close();
  return { events, numMazes: () => numMazes };
}

const kindsOf = (events: readonly AnyEvent[]) => events.map(({ kind }) => kind);

/** Payloads without what was measured by the clock. */
function payloadsOf(events: readonly AnyEvent[]) {
  return events.map(({ payload }) => ({ ...payload, environmentMs: 0, generationMs: 0 }));
}

/** Makes each turn of a loop many actions. */
const manyActions: PlayOptions['read'] = (own, turn) => {
  void own(turn);
  return { kind: 'act', actions: Array<string>(MANY).fill(turn.action), isValid: true, note: null };
};

/** Steps on the spot: the last of many actions ends the episode. */
function stepsOnTheSpot(): () => StepResult {
  let numSteps = 0;
  return () => ({
    ...{ observation: { text: 'here', anchor: null, legalActions: null }, reward: 1, parsedAction: null },
    ...{ rewardNames: [], rewardValues: [], terminated: ++numSteps === MANY, truncated: false },
    ...{ actionValid: true, success: null, info: null },
  });
}

it('an episode whose environment fails on the second action: ends with the first step, and records no step of the failed turn', async () => {
  let numSteps = 0;
  const { events } = await play({
    step: (own, action) => {
      if (++numSteps === 2) throw new Error('no answer');
      return own(action);
    },
  });
  expect(kindsOf(events)).toEqual(['EpisodeStarted', 'StepRecorded', 'EpisodeEnded']);
  expect(events[2].payload).toMatchObject({
    ...{ endReason: 'truncated', numSteps: 1 },
    endDetail: 'environment failed: step threw "no answer"',
  });
});

it('an episode whose environment answers later: has the events of one that is answered at once', async () => {
  const later = await play({ step: (own, action) => Promise.resolve().then(() => own(action)) });
  const atOnce = await play({});
  expect(kindsOf(later.events)).toEqual(kindsOf(atOnce.events));
  expect(later.events.length).toBeGreaterThan(3);
  expect(payloadsOf(later.events)).toEqual(payloadsOf(atOnce.events));
});

it.each([
  ['at once', (result: StepResult) => result],
  ['by promises', (result: StepResult) => Promise.resolve(result)],
  ['by turns', (result: StepResult, i: number) => (i % 2 === 0 ? result : Promise.resolve(result))],
])('a turn of 5,000 actions that are answered %s: is one step', async (_, answer) => {
  const next = stepsOnTheSpot();
  let numAnswers = 0;
  const { events } = await play({ read: manyActions, step: () => answer(next(), numAnswers++) });
  expect(kindsOf(events)).toEqual(['EpisodeStarted', 'StepRecorded', 'EpisodeEnded']);
  expect(numAnswers).toBe(MANY);
  expect(events[1].payload).toMatchObject({ reward: MANY, terminated: true });
  expect(events[2].payload).toMatchObject({ endReason: 'terminated', numSteps: 1 });
});

it('an episode that is given up while an action is not answered: takes no further action and records nothing', async () => {
  const interrupted = new AbortController();
  const next = stepsOnTheSpot();
  let numSteps = 0;
  let answer!: (result: StepResult) => void;
  const { events, numMazes } = await play({
    signal: interrupted.signal,
    read: manyActions,
    step: () => {
      numSteps += 1;
      interrupted.abort();
      return new Promise<StepResult>((resolve) => (answer = resolve));
    },
  });
  answer(next());
  await new Promise((resolve) => setImmediate(resolve));
  expect(kindsOf(events)).toEqual(['EpisodeStarted']);
  expect([numSteps, numMazes()]).toEqual([1, 1]);
});

it('an episode whose model fails: ends without a step', async () => {
  const { events } = await play({ failure: { of: 'model', reason: 'no server answers' } });
  expect(kindsOf(events)).toEqual(['EpisodeStarted', 'EpisodeEnded']);
  expect(events[1].payload).toMatchObject({
    ...{ endReason: 'truncated', numSteps: 0, success: null },
    endDetail: 'model failed: no server answers',
  });
});

it('a call that no action follows, before an action that fails: is recorded, and the failed turn is not', async () => {
  let numTurns = 0;
  const { events } = await play({
    read: (own, turn) => {
      const move = own(turn);
      return ++numTurns === 1 ? askedAgain : move;
    },
    step: () => Promise.reject(new Error('no answer')),
  });
  expect(kindsOf(events)).toEqual(['EpisodeStarted', 'StepRecorded', 'EpisodeEnded']);
  expect(events[1].payload).toMatchObject({ reward: 0, info: { agent: { call: 'thought' } } });
  expect(events[2].payload).toMatchObject({
    ...{ endReason: 'truncated', numSteps: 1 },
    endDetail: 'environment failed: step threw "no answer"',
  });
});

/** Asks the agent once more, for the action this time. */
const askedAgain: AskMove = {
  ...{ kind: 'ask', messages: [], purpose: null, isTrained: true },
  prompt: {
    observation: { text: 'and now?', anchor: null, legalActions: null },
    ...{ tokenIds: new Int32Array(0), keptPrefixTokens: 0 },
  },
};
