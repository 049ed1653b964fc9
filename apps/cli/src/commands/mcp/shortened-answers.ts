/** Leaves out of an answer what an agent can't read, or reads better by SQL. */
export interface Shortening {
  /** Said with the description of the tool. */
  readonly note: string;
  readonly shorten: (answer: unknown) => unknown;
}

const MOST_EPISODES = 20;

interface Steps {
  readonly steps: readonly { readonly tokens?: unknown }[];
}

/** An episode without the token ids, logprobs and masks of its steps. */
export const withoutTokens: Shortening = {
  note: 'Without the tokens of its steps, which run_sql reads from the table steps',
  shorten: (answer) => {
    const episode = answer as Steps;
    return { ...episode, steps: episode.steps.map(({ tokens: _, ...step }) => step) };
  },
};

interface ComparedEpisode {
  readonly recordedAdvantage: number | null;
  readonly changedAdvantage: number | null;
}

interface Compared {
  readonly updates: readonly {
    readonly episodes: readonly ComparedEpisode[];
    readonly everyToken?: unknown;
  }[];
}

/** A what-if with those episodes of each update whose advantages differ most, and without its tokens. */
export const withFewEpisodes: Shortening = {
  note: `Of each update it has the ${MOST_EPISODES} episodes whose advantages differ most, and no tokens`,
  shorten: (answer) => {
    const whatIf = answer as Compared;
    const updates = whatIf.updates.map(({ episodes, everyToken: _, ...update }) => ({
      ...update,
      numEpisodesLeftOut: Math.max(0, episodes.length - MOST_EPISODES),
      episodes: [...episodes]
        .sort((a, b) => computeDifference(b) - computeDifference(a))
        .slice(0, MOST_EPISODES),
    }));
    return { ...whatIf, updates };
  },
};

function computeDifference({ recordedAdvantage, changedAdvantage }: ComparedEpisode): number {
  return Math.abs((recordedAdvantage ?? 0) - (changedAdvantage ?? 0));
}
