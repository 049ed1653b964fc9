import type { Json } from '@retrace/trajectory';
import { choice, nonNegative, text } from '@retrace/algorithms/registry';
import { registerReward } from '../component.js';
import type { RewardEpisode } from '../episode.js';
import { valueAt } from '../task-path.js';
import { exactMatch, tokenF1 } from '../text-metrics/answers.js';
import { editSimilarity } from '../text-metrics/edit-distance.js';
import { mathAnswersAgree } from '../text-metrics/math-answers.js';
import { sentenceBleu } from '../text-metrics/bleu.js';
import { numbersAgree, parseNumber } from '../text-metrics/numbers.js';
import { rougeL } from '../text-metrics/rouge-l.js';

/*
 * Rewards that compare the agent's answer with a reference in the task. Importing this file registers them.
 *
 * The reference is at the dotted path `reference` in the task; it is a text, a number or a list of them, of which the
 * best counts. A task without one leaves the reward missing: it cannot be known. An episode without an answer scores as
 * the empty text.
 */

const answerOptions = {
  answer: choice('lastAction', 'lastParsedAction', 'finalObservation'),
  reference: text('answer'),
};
type AnswerSource = 'lastAction' | 'lastParsedAction' | 'finalObservation';

/** Rewards that are one number for an answer and one reference. */
const comparisons: readonly {
  readonly name: string;
  readonly description: string;
  readonly compare: (answer: string, reference: string) => number;
}[] = [
  {
    name: 'exactMatch',
    description: "1 when the answer equals a reference in SQuAD's normal form, else 0",
    compare: exactMatch,
  },
  {
    name: 'tokenF1',
    description: "SQuAD's F1 of the words of answer and reference",
    compare: tokenF1,
  },
  {
    name: 'rougeL',
    description: 'ROUGE-L F1 of answer and reference',
    compare: rougeL,
  },
  {
    name: 'editSimilarity',
    description: 'One minus the edit distance of answer and reference over the length of the longer one',
    compare: editSimilarity,
  },
  {
    name: 'mathEquality',
    description:
      'One when answer and reference are the same in the normal form of the MATH benchmark, else 0',
    compare: (answer, reference) => Number(mathAnswersAgree(answer, reference)),
  },
];
for (const { name, description, compare } of comparisons) {
  registerReward(import.meta.url, {
    name,
    description,
    options: answerOptions,
    score: (episode, options) => best(episode, options, compare),
  });
}

registerReward(import.meta.url, {
  name: 'bleu',
  description: 'Sentence BLEU of the answer against all references',
  options: answerOptions,
  score(episode, { answer, reference }) {
    const references = referencesAt(episode.task, reference);
    if (references === null) return { scope: 'episode', value: null };
    return { scope: 'episode', value: sentenceBleu(selectAnswer(episode, answer), references) };
  },
});

registerReward(import.meta.url, {
  name: 'numericEquality',
  description:
    'One when the number that the answer states agrees with a reference within a tolerance, else 0',
  options: { ...answerOptions, absoluteTolerance: nonNegative(1e-6), relativeTolerance: nonNegative(1e-6) },
  score(episode, { absoluteTolerance, relativeTolerance, ...options }) {
    const tolerance = { absolute: absoluteTolerance, relative: relativeTolerance };
    return best(episode, options, (answer, reference) => {
      const expected = parseNumber(reference);
      if (expected === null) throw new Error(`reference ${JSON.stringify(reference)} states no number`);
      const stated = parseNumber(answer);
      return Number(stated !== null && numbersAgree(stated, expected, tolerance));
    });
  },
});

function best(
  episode: RewardEpisode,
  { answer, reference }: { readonly answer: AnswerSource; readonly reference: string },
  compare: (answer: string, reference: string) => number,
): { readonly scope: 'episode'; readonly value: number | null } {
  const references = referencesAt(episode.task, reference);
  if (references === null) return { scope: 'episode', value: null };
  const given = selectAnswer(episode, answer);
  return { scope: 'episode', value: Math.max(...references.map((expected) => compare(given, expected))) };
}

function selectAnswer(episode: RewardEpisode, source: AnswerSource): string {
  if (source === 'finalObservation') return episode.finalObservation;
  const last = episode.steps.at(-1);
  return (source === 'lastAction' ? last?.action : last?.parsedAction) ?? '';
}

function referencesAt(task: Json, path: string): string[] | null {
  const value = valueAt(task, path);
  if (value === undefined) return null;
  const list: readonly Json[] = Array.isArray(value) ? value : [value];
  const texts = list.filter((entry) => typeof entry === 'string' || typeof entry === 'number').map(String);
  return texts.length > 0 && texts.length === list.length ? texts : null;
}
