import { beforeAll, describe, expect, it } from 'vitest';
import {
  EnvironmentError,
  getEnvironment,
  listEnvironments,
  type EnvironmentSpec,
  type ScriptedAgent,
} from '@retrace/environments';
import { openPolicyText, type PolicyText } from '@retrace/policy';
import type { AnyEvent, StepRecorded } from '@retrace/trajectory';
import { ScriptedActor, scriptedAgent } from '../actors/scripted-actor.js';
import type { SlotContext } from '../episode/episode-slot.js';
import { createSlots, playEpisodes } from '../episode/play-episodes.js';
import { directLoop } from '../loop/direct-loop.js';
import type { PlannedEpisode, PlannedGroup } from '../episode/planned-episode.js';
import { deriveChanceSeed, readForkedStep, returnFrom, type ForkedStep } from './forked-step.js';
import { reachStep } from '../players/reach-step.js';

const RUN = '01936d00-0000-7000-8000-000000000001';
const PARENT = '01936d00-0000-7000-8000-000000000002';
const FORK = '01936d00-0000-7000-8000-000000000003';
const SAMPLED_SPLIT = { split: 'train', index: 3, seed: 7 } as const;

/** The step as it is read from a store that holds one episode. */
const pointOf = (events: readonly AnyEvent[], step: number): Promise<ForkedStep> =>
  readForkedStep(() => Promise.resolve(events), { runId: RUN, episodeId: PARENT, step });

const stepsOf = (events: readonly AnyEvent[]): StepRecorded[] =>
  events.flatMap((event) => (event.kind === 'StepRecorded' ? [event.payload] : []));

/** The words and rewards of a step, without tokens and times. */
const said = ({ observation, action, reward, terminated, truncated, anchor, actionValid }: StepRecorded) => ({
  ...{ observation, action, reward, terminated, truncated, anchor, actionValid },
});

class Table {
  private constructor(
    readonly spec: EnvironmentSpec,
    readonly text: PolicyText,
  ) {}

  static async of(spec: EnvironmentSpec): Promise<Table> {
    const tokenizer = spec.words === null ? 'byte' : 'word';
    return new Table(spec, await openPolicyText({ tokenizer, words: spec.words, directory: undefined }));
  }

  context(agent: ScriptedAgent, emit: (event: AnyEvent) => void): SlotContext {
    return {
      actor: new ScriptedActor(agent, this.text, 1),
      prompts: this.text.prompts,
      beginLoop: directLoop({ window: 'history', maxNewTokens: 1, whenContextFull: 'truncate' }),
      limits: {
        resetTimeoutMs: 1000,
        stepTimeoutMs: 1000,
        maxFailuresInARow: 1,
        truncatedSuccess: null,
        whenContextFull: 'truncate',
      },
      recorder: {
        runId: RUN,
        logId: RUN,
        environment: this.spec.name,
        engine: 'test',
        model: 'test',
        tokenizerHash: this.text.tokenizer.hash,
        nowUs: () => 0,
      },
      emit,
      ended: () => undefined,
      onEnvironmentMs: () => undefined,
    };
  }

  plan(fork?: PlannedEpisode['fork'], samplingSeed = 5): PlannedEpisode {
    const sampled = this.spec.sampleTask(SAMPLED_SPLIT);
    const group: PlannedGroup = {
      ...{ groupId: 'g', place: 0, groupSize: 3, round: 0, agent: 'expert', trainable: false },
      ...{ sampled, failure: null, split: 'train' },
    };
    return {
      episodeId: PARENT,
      group,
      groupMember: fork ? 0 : 2,
      samplingSeed,
      isGreedyBaseline: false,
      fork,
    };
  }

  async play(agent: ScriptedAgent, plan: PlannedEpisode): Promise<AnyEvent[]> {
    const events: AnyEvent[] = [];
    const context = this.context(agent, (event) => events.push(event));
    await playEpisodes({
      slots: createSlots(this.spec, 1, context),
      context,
      episodes: [plan],
      signal: new AbortController().signal,
      beforeTurns: () => Promise.resolve(),
      betweenActs: () => Promise.resolve(),
      onGenerationMs: () => undefined,
    });
    return events;
  }

  fork(point: ForkedStep, forcedAction: string | null, chanceSeed: number | null = null): PlannedEpisode {
    const loops = { write: (action: string) => action, stopStrings: [] };
    const speech = { text: this.text, maxNewTokens: 1, loops };
    return this.plan({ point, speech, forcedAction, chanceSeed, description: null });
  }
}

/** Plays recorded actions, beginning at a step. */
function reciter(steps: readonly StepRecorded[], from: number): ScriptedAgent {
  let at = from;
  return { name: 'random', act: () => steps[at++].action };
}

describe.each(listEnvironments().map((spec) => [spec.name, spec] as const))('a fork in %s', (_name, spec) => {
  let table: Table;
  let parent: readonly AnyEvent[];
  let steps: readonly StepRecorded[];
  const expert = spec.agents.find(({ name }) => name === 'expert') ?? spec.agents[0];
  const at = (step: number) => pointOf(parent, step);

  beforeAll(async () => {
    table = await Table.of(spec);
    parent = await table.play(expert, table.plan());
    steps = stepsOf(parent);
  });

  it('reproduces the rest of an episode at every step, with its action and then its agent', async () => {
    expect(steps.length).toBeGreaterThan(0);
    for (const { step, action } of steps) {
      // The agents of memory-bandit remember an episode from its beginning.
      const agent = spec.name === 'memory-bandit' ? reciter(steps, step + 1) : expert;
      const point = await at(step);
      const events = await table.play(agent, table.fork(point, action));
      expect(stepsOf(events).map(said)).toEqual(steps.slice(step).map(said));
      const ended = events.at(-1)?.payload;
      expect(ended).toMatchObject({ endReason: point.ended?.endReason, success: point.ended?.success });
      expect(ended).toMatchObject({ return: returnFrom(point) });
    }
  });

  it('of a fork reproduces the rest of it at its first, middle and last step, with its chance and its context', async () => {
    const random = spec.agents.find(({ name }) => name === 'random') ?? spec.agents[0];
    // With chance, equal rewards by luck are told apart by several seeds.
    const numSeeds = spec.create().reseed === undefined ? 1 : 12;
    for (let forkSeed = 9; forkSeed < 9 + numSeeds; forkSeed++) {
      const start = table.fork(await at(Math.floor(steps.length / 2)), null, deriveChanceSeed(forkSeed));
      const fork = start.fork && { ...start.fork, description: { fork: { chance: 'own' } } };
      const forked = await table.play(random, {
        ...start,
        ...{ episodeId: FORK, samplingSeed: forkSeed, fork },
      });
      const own = stepsOf(forked);
      for (const step of new Set([0, Math.floor(own.length / 2), own.length - 1])) {
        const read = ({ episodeId }: { episodeId: string }) =>
          Promise.resolve(episodeId === FORK ? forked : parent);
        const point = await readForkedStep(read, { runId: RUN, episodeId: FORK, step });
        const context = table.context(random, () => undefined);
        expect(await reachStep({ spec, context, plan: table.fork(point, null) })).toBeNull();
        const events = await table.play(reciter(own, step + 1), table.fork(point, own[step].action));
        expect(stepsOf(events).map(said)).toEqual(own.slice(step).map(said));
        expect(events[0].payload).toMatchObject({ forkedFrom: { episodeId: FORK, step } });
      }
    }
  });

  it('has the context of the episode, token by token, and stores none of its steps', async () => {
    for (const { step } of steps) {
      const plan = table.fork(await at(step), null);
      const context = table.context(expert, () => undefined);
      expect(await reachStep({ spec, context, plan })).toBeNull();
    }
    const last = steps.length - 1;
    const events = await table.play(reciter(steps, last), table.fork(await at(last), null));
    expect(events[0].payload).toMatchObject({
      forkedFrom: { episodeId: PARENT, step: last },
      forkedFromRunId: RUN,
    });
    const [step, ...others] = stepsOf(events);
    expect(others).toEqual([]);
    const whole = steps.flatMap(({ tokenIds }) => [...tokenIds]);
    expect([...step.tokenIds]).toEqual(whole);
    expect(step.keptPrefixTokens).toBe(0);
    expect(step.actionMask.indexOf(1)).toBe(whole.length - actionLength(steps[last]));
  });
});

const actionLength = ({ actionMask }: StepRecorded) => actionMask.filter((isAction) => isAction === 1).length;

describe('a fork', () => {
  it('with a forced action goes on with the agent, and its policy reads the forced action in its context', async () => {
    const table = await Table.of(getEnvironment('maze'));
    const expert = scriptedAgent(table.spec, 'expert');
    const parent = await table.play(expert, table.plan());
    const point = await pointOf(parent, 2);
    const shown: Int32Array[] = [];
    const events: AnyEvent[] = [];
    const context = table.context(expert, (event) => events.push(event));
    const request = context.actor.request.bind(context.actor);
    context.actor.request = (asked) => {
      shown.push(asked.prompt.tokenIds);
      request(asked);
    };
    await playEpisodes({
      slots: createSlots(table.spec, 1, context),
      ...{ context, episodes: [table.fork(point, 'goal')], signal: new AbortController().signal },
      ...{ beforeTurns: () => Promise.resolve(), betweenActs: () => Promise.resolve() },
      onGenerationMs: () => undefined,
    });
    const [first, second] = stepsOf(events);
    expect(first).toMatchObject({ action: 'goal', reward: -0.1, sampling: null, logprobMode: 'none' });
    expect(first.untrainable).toBe('no behavior logprobs');
    expect([...shown[0]]).toEqual([...first.tokenIds, ...second.tokenIds.subarray(0, -1)]);
    expect(second.keptPrefixTokens).toBe(first.tokenIds.length);
    expect(events.at(-1)?.payload).toMatchObject({ success: true });
  });

  it.each([
    ['observation', { observation: 'elsewhere' }],
    ['anchor', { anchor: 'elsewhere' }],
    ['reward', { reward: 0.5 }],
    ['truncated', { truncated: true }],
  ])('is refused where the %s of a step before it was another one', async (name, change) => {
    const table = await Table.of(getEnvironment('maze'));
    const expert = scriptedAgent(table.spec, 'expert');
    const parent = await table.play(expert, table.plan());
    const changed = parent.map((event) =>
      event.kind === 'StepRecorded' && event.payload.step === 1
        ? { ...event, payload: { ...event.payload, ...change } }
        : event,
    );
    const point = await pointOf(changed, 2);
    const reaching = reachStep({
      spec: table.spec,
      context: table.context(expert, () => undefined),
      plan: table.fork(point, null),
    });
    await expect(reaching).rejects.toMatchObject({
      code: 'REPLAY_DIFFERS',
      message: expect.stringMatching(
        new RegExp(`step 1 differs from the recorded one: ${name} is `),
      ) as string,
    });
  });

  it('has chance of its own from the step on, which follows from its seed', async () => {
    const table = await Table.of(getEnvironment('memory-bandit'));
    const parent = await table.play(scriptedAgent(table.spec, 'expert'), table.plan());
    const point = await pointOf(parent, 3);
    const rewards = async (chanceSeed: number) => {
      const events = await table.play(reciter(stepsOf(parent), 3), table.fork(point, null, chanceSeed));
      return stepsOf(events).map(({ reward }) => reward);
    };
    expect(await rewards(1)).toEqual(await rewards(1));
    const seen = new Set<string>();
    for (let seed = 0; seed < 20; seed++) seen.add(String(await rewards(seed)));
    expect(seen.size).toBeGreaterThan(3);
  });

  it('is refused at a step that the episode does not have', async () => {
    const table = await Table.of(getEnvironment('bandit'));
    const parent = await table.play(scriptedAgent(table.spec, 'expert'), table.plan());
    await expect(pointOf(parent, 1)).rejects.toThrow('has 1 steps; --step must be from 0 to 0, got 1');
    await expect(pointOf([], 0)).rejects.toThrow(`Episode ${PARENT} of run ${RUN} not found`);
    await expect(pointOf([], 0)).rejects.not.toThrow(EnvironmentError);
  });
});
