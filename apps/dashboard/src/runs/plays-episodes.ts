/** The fields of a recipe that say whether its run plays. */
interface PlayingFields {
  readonly data?: { readonly sources: readonly { readonly from: string }[] } | null;
  readonly imitation?: object | null;
  readonly evaluation?: { readonly everyUpdates: number; readonly numTestEpisodes: number };
}

/** Whether a run of this recipe plays episodes: to train on them, to imitate an agent, to validate or to test. Only then has it a success rate. */
export function playsEpisodes(recipe: unknown): boolean {
  const { data, imitation, evaluation } = (recipe ?? {}) as PlayingFields;
  const collects = data?.sources.some(({ from }) => from === 'own') ?? true;
  const evaluates =
    evaluation !== undefined && (evaluation.everyUpdates > 0 || evaluation.numTestEpisodes > 0);
  return collects || Boolean(imitation) || evaluates;
}
