import { flag, nonNegative, positive, real, text, wholeNumber } from '@retrace/algorithms/registry';
import { registerReward } from '../component.js';
import type { RewardEpisode } from '../episode.js';

/*
 * A language model that reads the episode and gives a score. Importing this file registers it. The scorer asks
 * (`RewardContext.judge`); this file makes the question.
 */

const DEFAULT_INSTRUCTIONS =
  'You grade what an agent did in an episode. Judge only what is shown. Give a higher score the better the task was done.';

registerReward(import.meta.url, {
  name: 'judge',
  description: 'Score that a language model gives the episode; missing while the model cannot be asked',
  asksJudge: true,
  options: {
    model: text(''),
    instructions: text(DEFAULT_INSTRUCTIONS),
    minScore: real(0),
    maxScore: real(1),
    showObservations: flag(true),
    temperature: nonNegative(0),
    seed: wholeNumber(0),
    maxTokens: wholeNumber(512, 1),
    maxPromptCharacters: wholeNumber(200_000, 1),
    endpoint: text('http://127.0.0.1:8000/v1'),
    apiKeyVariable: text(''),
    timeoutMs: positive(60_000),
    maxRetries: wholeNumber(3),
    concurrency: wholeNumber(8, 1),
    promptPrice: nonNegative(0),
    completionPrice: nonNegative(0),
  },
  operationalOptions: [
    'endpoint',
    'apiKeyVariable',
    'timeoutMs',
    'maxRetries',
    'concurrency',
    'promptPrice',
    'completionPrice',
  ],
  optionsFault({ model, minScore, maxScore, endpoint }) {
    if (model === '') return 'model is empty, must name a model of the endpoint';
    if (minScore >= maxScore) {
      return `minScore is ${minScore}, must be less than maxScore, which is ${maxScore}`;
    }
    if (!/^https?:\/\/[^/]/.test(endpoint))
      return `endpoint is ${JSON.stringify(endpoint)}, must be an http or https URL`;
    return null;
  },
  async score(episode, options, { judge }) {
    if (judge === undefined) throw new Error('no judge is available here');
    const user = describeEpisode(episode, options.showObservations);
    if (user.length > options.maxPromptCharacters) {
      throw new Error(
        `the episode takes ${user.length} characters, must be at most maxPromptCharacters (${options.maxPromptCharacters})`,
      );
    }
    const { model, minScore, maxScore, temperature, seed, maxTokens } = options;
    const { endpoint, apiKeyVariable, timeoutMs, maxRetries, concurrency, promptPrice, completionPrice } =
      options;
    const answer = await judge({
      model,
      system: `${options.instructions}\nAnswer with a JSON object: "rationale", a short text, and "score", a number from ${minScore} to ${maxScore}.`,
      user,
      minScore,
      maxScore,
      temperature,
      seed,
      maxTokens,
      service: { endpoint, apiKeyVariable, timeoutMs, maxRetries, concurrency, promptPrice, completionPrice },
    });
    return answer.kind === 'verdict'
      ? { scope: 'episode', value: answer.score }
      : { scope: 'episode', value: null, missing: answer.reason };
  },
});

/** Task, steps and end as JSON: no text of the agent's can pass for a part of the question. */
function describeEpisode(
  { task, steps, finalObservation, endReason }: RewardEpisode,
  showObservations: boolean,
): string {
  return JSON.stringify(
    {
      task,
      steps: steps.map(({ observation, action, parsedAction, actionValid }) => ({
        ...(showObservations ? { observation } : {}),
        action,
        ...(parsedAction === null || parsedAction === action ? {} : { understoodAs: parsedAction }),
        ...(actionValid ? {} : { valid: false }),
      })),
      finalObservation,
      endReason,
    },
    null,
    1,
  );
}
