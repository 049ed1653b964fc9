import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { parseRecipe, resolveRecipe, type Recipe } from '@retrace/config';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { InProcessRun } from './support/in-process-run.js';
import { playedEpisodes, rowOfStep } from './support/stored-prompts.js';

type AgentSection = NonNullable<Recipe['agent']>;

/** A group of two episodes of a frozen lake, whose model writes six bytes a turn. */
function recipeWith(agent: AgentSection, { maxPositions = 1200 } = {}): Recipe {
  const isFull = agent.history?.policy === 'full' || agent.module !== undefined;
  const base = resolveRecipe('frozen-lake-grpo', {
    numUpdates: 1,
    assignments: [
      `model.maxPositions=${maxPositions}`,
      'model.hiddenSize=8',
      'model.numLayers=1',
      'model.numHeads=1',
      'model.numKeyValueHeads=1',
      'model.headDim=4',
      'model.intermediateSize=8',
      'collection.groupsPerRound=1',
      'collection.groupSize=2',
      'evaluation.everyUpdates=0',
      'evaluation.numTestEpisodes=0',
      'optimizer.epochs=1',
      'optimizer.miniBatchActionTokens=1000000',
      'context.tokenizer=byte',
      `context.window=${isFull ? 'history' : 'observation'}`,
      'context.maxNewTokens=6',
    ],
  });
  return parseRecipe({ ...base, agent });
}

describe('a run with the section agent', () => {
  let directory: string;
  beforeAll(async () => {
    await openBackend();
  });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-agent-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  async function play(recipe: Recipe) {
    const run = await InProcessRun.begin(directory, recipe);
    await run.work();
    const updates = await run.updates();
    const events = await run.episodeEvents();
    await run.close();
    const metric = (name: string) =>
      updates.map(({ metricNames, metricValues }) => metricValues[metricNames.indexOf(name)]);
    const steps = events.flatMap((event) => (event.kind === 'StepRecorded' ? [event.payload] : []));
    const ends = events.flatMap((event) => (event.kind === 'EpisodeEnded' ? [event.payload] : []));
    return { metric, steps, ends };
  }

  const POLICIES: readonly (readonly [name: string, agent: AgentSection])[] = [
    ['observation', { maxTurns: 3 }],
    ['last two turns', { history: { policy: 'last', length: 2 }, maxTurns: 4 }],
    ['full', { history: { policy: 'full' }, maxTurns: 4 }],
    ['full without thoughts', { history: { policy: 'full', keepThoughts: false }, maxTurns: 3 }],
    ['summary', { history: { policy: 'summary', length: 2 }, maxTurns: 3 }],
    [
      'trained summary',
      {
        history: { policy: 'summary', length: 1, trainSummaries: true },
        maxTurns: 3,
        systemTemplate: 'You walk.',
      },
    ],
  ];

  it.each(POLICIES)('gives the trainer the logprobs that were sampled with: %s', async (_, agent) => {
    const { metric, steps } = await play(recipeWith(agent));
    expect(steps.length).toBeGreaterThan(3);
    for (const deviation of metric('train/ratioMaxDeviation')) expect(deviation).toBeLessThan(1e-4);
  });

  describe('its data sets', () => {
    const EXPERT = { agent: 'expert', numEpisodes: 4, numUpdates: 1, episodesPerUpdate: 4, learningRate: 0 };
    const MODULE = `export default { name: 'planner', begin: () => ({
      async act({ observation, turn }, model) {
        if (turn === 2) return { actions: ['left'] };
        const question = { role: 'user', content: observation };
        const plan = await model.ask([question, { role: 'user', content: 'Plan.' }], { purpose: 'plan' });
        return { actions: [await model.ask([{ role: 'system', content: 'Act.' }, question, { role: 'assistant', content: plan }, question])] };
      },
    }) };`;
    /** The steps of each episode as data sets read them, with the text of the tokens that each model read. */
    async function played(agent: AgentSection) {
      const recipe = recipeWith(agent);
      const imitation = agent.module === undefined && agent.history?.policy !== 'summary' && EXPERT;
      const run = await InProcessRun.begin(
        directory,
        parseRecipe({ ...recipe, ...(imitation && { imitation }) }),
      );
      await run.work();
      const events = await run.episodeEvents();
      await run.close();
      return playedEpisodes(events, imitation ? 'expert' : 'policy');
    }

    it.each(POLICIES.filter(([name]) => name !== 'summary'))(
      'have for each step the prompt that its model read: %s',
      async (_, agent) => {
        const episodes = await played(agent);
        expect(episodes.length).toBeGreaterThan(0);
        for (const { episode, read } of episodes) {
          const prompts = episode.steps.map((_step, step) => {
            const messages = rowOfStep('prompts', episode, step)?.prompt as unknown as { content: string }[];
            return messages.map(({ content }) => content).join('');
          });
          expect(prompts).toEqual(read);
        }
      },
    );

    it('have those of an agent module, and none of a turn that no model was asked for', async () => {
      const module = join(directory, 'planner.mjs');
      writeFileSync(module, MODULE);
      const [{ episode }] = await played({ module, maxTurns: 3 });
      const rows = episode.steps.map((_, step) => rowOfStep('prompts', episode, step)?.prompt);
      const seen = (n: number) => ({ role: 'user', content: episode.steps[n].observation });
      const plan = (n: number) => ({ role: 'assistant', content: episode.steps[n].action });
      const act = { role: 'system', content: 'Act.' };
      expect(rows.slice(0, 2)).toEqual([
        [seen(0), { role: 'user', content: 'Plan.' }],
        [act, seen(0), plan(0), seen(0)],
      ]);
      expect(rowOfStep('sft', episode, 2)).toBeUndefined();
    });
  });

  describe('with an action format in a file of one’s own', () => {
    /** Reads `=> action`, or by its option another arrow; the expert's actions are written so. */
    const FORMAT = `export default ({ arrow = '=>' }) => ({
      name: 'arrow',
      prompt: \`End with "\${arrow} action".\`,
      parse: (text) => (text.includes(arrow) ? { actions: [text.split(arrow).at(-1).trim()], thought: text.split(arrow)[0].trim() || null } : null),
      write: ({ thought, actions }) => (thought ?? '') + arrow + ' ' + actions[0],
    });`;
    const formatModule = (text = FORMAT) => {
      const path = join(directory, 'arrow.mjs');
      writeFileSync(path, text);
      return path;
    };
    const IMITATION = {
      agent: 'expert',
      numEpisodes: 4,
      numUpdates: 1,
      episodesPerUpdate: 4,
      learningRate: 0,
    };

    it.each([
      ['last', { policy: 'last', length: 2 }],
      ['full', { policy: 'full' }],
    ] as const)('prompts, histories and imitation use it: history %s', async (_, history) => {
      const agent: AgentSection = {
        ...{ formatModule: formatModule(), options: { arrow: '->' }, history, maxTurns: 3 },
        systemTemplate: 'You walk. {{ instructions }}',
      };
      const recipe = recipeWith(agent);
      const { steps } = await play(
        parseRecipe({
          ...recipe,
          imitation: IMITATION,
          context: { ...recipe.context, maxNewTokens: 12 },
        }),
      );
      const demonstrated = steps.filter(({ action }) => action.startsWith('-> '));
      expect(demonstrated.length).toBeGreaterThan(0);
      for (const { action, parsedAction, actionValid } of demonstrated) {
        expect(action).toBe(`-> ${parsedAction}`);
        expect(actionValid).toBe(true);
      }
      const texts = steps.map(({ tokenIds, actionMask }) =>
        Buffer.from(tokenIds.filter((id, n) => actionMask[n] === 0 && id < 256)).toString(),
      );
      expect(texts.some((text) => text.includes('You walk. End with "-> action".'))).toBe(true);
    });

    it('an episode whose parse fails is a failure of the agent, with the reason', async () => {
      const fails = FORMAT.replace('text.includes(arrow)', 'text.nothing.here');
      const run = await InProcessRun.begin(
        directory,
        recipeWith({ formatModule: formatModule(fails), maxTurns: 3 }),
      );
      const warnings: string[] = [];
      await run.work({ onWarning: (line) => warnings.push(line) });
      await run.close();
      expect(warnings.join()).toContain(
        "agent failed: its format failed: Cannot read properties of undefined (reading 'here')",
      );
    });

    it('refuses a file that is no format, and fields that only a format by name reads', async () => {
      const run = await InProcessRun.begin(
        directory,
        recipeWith({ formatModule: formatModule('export default {}') }),
      );
      await expect(run.work()).rejects.toThrow(
        /agent\.formatModule .*arrow\.mjs: name must be a text that is not empty/,
      );
      await run.close();
      expect(() => recipeWith({ formatModule: formatModule(), format: 'react', strict: false })).toThrow(
        'agent.format: got "react", must be absent with agent.formatModule, which reads turns by itself; agent.strict: got false, must be absent',
      );
    });
  });
});
