import { getEnvironment, type Environment, type EnvironmentSpec } from '@retrace/environments';
import { openPolicyText } from '@retrace/policy';
import type { AnyEvent } from '@retrace/trajectory';
import { expect, it } from 'vitest';
import { ScriptedActor, scriptedAgent } from '../actors/scripted-actor.js';
import { directLoop } from '../loop/direct-loop.js';
import type { SlotContext } from './episode-slot.js';
import { createSlots, playEpisodes } from './play-episodes.js';

const ID = '01936d00-0000-7000-8000-000000000001';

/** Plays an episode of the expert in a maze whose `step` is another one, and returns its events. */
async function play(step: (own: Environment['step'], action: string) => ReturnType<Environment['step']>) {
  const maze = getEnvironment('maze');
  const create = (): Environment => {
    const environment = maze.create();
    const own = environment.step.bind(environment);
    environment.step = (action) => step(own, action);
    return environment;
  };
  const spec: EnvironmentSpec = { ...maze, create };
  const text = await openPolicyText({ tokenizer: 'byte', words: null, directory: undefined });
  const actor = new ScriptedActor(scriptedAgent(spec, 'expert'), text, 1);
  const events: AnyEvent[] = [];
  const context: SlotContext = {
    ...{ actor, prompts: text.prompts },
    beginLoop: directLoop({ window: 'history', maxNewTokens: 1, whenContextFull: 'truncate' }),
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
    ...{ slots, context, signal: new AbortController().signal },
    episodes: [{ episodeId: ID, group, groupMember: 0, samplingSeed: 5, isGreedyBaseline: false }],
    beforeTurns: () => Promise.resolve(),
    betweenActs: () => Promise.resolve(),
    onGenerationMs: () => undefined,
  });
  return events;
}

it('an episode whose environment fails on the second action: ends with the first step, and records no step of the failed turn', async () => {
  let numSteps = 0;
  const events = await play((own, action) => {
    if (++numSteps === 2) throw new Error('no answer');
    return own(action);
  });
  expect(events.map(({ kind }) => kind)).toEqual(['EpisodeStarted', 'StepRecorded', 'EpisodeEnded']);
  expect(events[2].payload).toMatchObject({
    ...{ endReason: 'truncated', numSteps: 1 },
    endDetail: 'environment failed: step threw "no answer"',
  });
});

it('an episode whose environment answers later: has the events of one that is answered at once', async () => {
  const later = await play((own, action) => Promise.resolve().then(() => own(action)));
  const atOnce = await play((own, action) => own(action));
  const actionsOf = (events: readonly AnyEvent[]) =>
    events.flatMap((event) => (event.kind === 'StepRecorded' ? [event.payload.action] : []));
  expect(actionsOf(later).length).toBeGreaterThan(1);
  expect(actionsOf(later)).toEqual(actionsOf(atOnce));
});
