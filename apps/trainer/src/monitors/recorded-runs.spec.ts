import { readdirSync, readFileSync } from 'node:fs';
import { listRecipes, resolveRecipe } from '@retrace/config';
import { describe, expect, it } from 'vitest';
import type { EpisodeFigures, UpdateFigures } from './monitor.js';
import { RunMonitors } from './run-monitors.js';

/** Runs of built-in recipes, as `record-runs.mjs` beside them recorded them. */
const RECORDINGS = new URL('../../../../test/golden/monitors/', import.meta.url);

type Column = readonly (number | null)[];

interface Recording {
  readonly recipe: string;
  readonly numUpdates: number;
  /** [numUpdates] each; null = not measured. */
  readonly metrics: Readonly<Record<string, Column>>;
  readonly episodes: Readonly<
    Record<'numEpisodes' | 'numMissing' | 'repeatedFraction' | 'uniformEntropy', Column>
  >;
}

const recordings = readdirSync(RECORDINGS)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(new URL(name, RECORDINGS), 'utf8')) as Recording);

function updateOf({ metrics }: Recording, i: number): UpdateFigures {
  const measured = Object.entries(metrics).flatMap(([name, values]): [string, number][] =>
    values[i] === null ? [] : [[name, values[i]]],
  );
  return { updateNumber: i + 1, metrics: new Map(measured) };
}

/** Episodes with the recorded counts and means; which of them have what is not recorded. */
function episodesOf({ episodes }: Recording, i: number): EpisodeFigures {
  const numEpisodes = episodes.numEpisodes[i] ?? 0;
  const numMissing = episodes.numMissing[i] ?? 0;
  return {
    episodeIds: Array.from({ length: numEpisodes }, (_, e) => `${e}`),
    totals: Float64Array.from({ length: numEpisodes }, (_, e) => (e < numMissing ? NaN : 0)),
    successes: new Int8Array(numEpisodes),
    numActionTokens: new Int32Array(numEpisodes),
    repeatedFractions: new Float32Array(numEpisodes).fill(episodes.repeatedFraction[i] ?? 0),
    uniformEntropy: episodes.uniformEntropy[i] ?? NaN,
  };
}

/** The worlds of AgentGym are servers, with models of their own, which no test starts. */
const wanted = listRecipes()
  .filter(({ description }) => !description.startsWith('AgentGym'))
  .map(({ name }) => name);

describe('the monitors of a healthy run', () => {
  it('are tested with a recording of each built-in recipe that needs no server', () => {
    const names = recordings.map(({ recipe }) => recipe);
    expect(wanted.filter((name) => !names.includes(name))).toEqual([]);
  });

  it.each(recordings)('are silent: $recipe, $numUpdates updates', (recording) => {
    const { monitors: rules = {} } = resolveRecipe(recording.recipe);
    const monitors = new RunMonitors(rules);
    const findings = Array.from({ length: recording.numUpdates }, (_, i) =>
      monitors
        .observe(updateOf(recording, i), episodesOf(recording, i))
        .map(({ rule, message }) => `update ${i + 1}: ${rule}: ${message}`),
    );
    expect(findings.flat()).toEqual([]);
  });
});
