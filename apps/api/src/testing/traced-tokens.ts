import type { UpdateTokensTraced } from '@retrace/trajectory';
import type { RecordedEpisode } from './played-episode.js';

type Traced = Omit<UpdateTokensTraced, 'planId' | 'epoch' | 'updateNumber'>;

/** Two optimizer steps that each train every action token; their figures tell places and steps apart. */
export function tracedTokens(episodes: readonly RecordedEpisode[]): Traced {
  const tokens = [1, 2].flatMap((optimizerStep) =>
    episodes.flatMap(({ events, end }, episode) =>
      events.flatMap((event) => {
        if (event.kind !== 'StepRecorded') return [];
        const { step, actionMask } = event.payload;
        const positions = [...actionMask.keys()].filter((position) => actionMask[position] === 1);
        const advantage = end.success === true ? 1 : -0.5;
        return positions.map((position) => ({ optimizerStep, episode, step, position, advantage }));
      }),
    ),
  );
  const integers = (of: (token: (typeof tokens)[number]) => number) => Int32Array.from(tokens, of);
  const floats = (of: (token: (typeof tokens)[number]) => number) => Float32Array.from(tokens, of);
  return {
    part: 0,
    optimizerSteps: integers(({ optimizerStep }) => optimizerStep),
    episodes: integers(({ episode }) => episode),
    steps: integers(({ step }) => step),
    positions: integers(({ position }) => position),
    clipped: Uint8Array.from(tokens, ({ optimizerStep, step }) =>
      Number(optimizerStep === 2 && step % 2 === 1),
    ),
    ratios: floats(({ optimizerStep, step }) => (optimizerStep === 1 ? 1 : 1 + step / 64)),
    advantages: floats(({ advantage }) => advantage),
    values: floats(({ optimizerStep, position }) => optimizerStep + position / 64),
    kls: floats(() => Number.NaN),
    entropies: floats(({ optimizerStep }) => 1 / optimizerStep),
    teacherLogprobs: null,
    teacherTopIds: null,
    teacherTopLogprobs: null,
  };
}
