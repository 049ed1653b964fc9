/** A question of one turn, that a model of random weights answers rightly now and then. */
import type { EnvironmentSpec } from '@retrace/environments';
import { deriveSeed, EnvironmentError } from '@retrace/environments';

/** Capitals and digits in a right answer, which no special token contains. */
const ENOUGH = 3;

class Capitals {
  private isOver = true;

  constructor(private question = '') {}

  reset({ task }: { readonly task: unknown }) {
    this.question = (task as { readonly question: string }).question;
    this.isOver = false;
    return this.observe();
  }

  reseed() {
    return undefined;
  }

  step(action: string) {
    if (this.isOver) throw new EnvironmentError('EPISODE_OVER', 'reset first');
    this.isOver = true;
    const success = (action.match(/[0-9A-Z]/g) ?? []).length >= ENOUGH;
    return {
      ...{ observation: this.observe(), reward: Number(success), rewardNames: ['capitals'] },
      ...{ rewardValues: [Number(success)], terminated: true, truncated: false },
      ...{ parsedAction: action, actionValid: true, success, info: null },
    };
  }

  close() {
    this.isOver = true;
  }

  private observe() {
    return { text: this.question, anchor: this.question, legalActions: null };
  }
}

export default (): EnvironmentSpec => ({
  name: 'capitals',
  description: 'Answer with capitals and digits',
  maxSteps: 1,
  words: null,
  actionWords: null,
  offersAnchors: true,
  splitsAreDisjoint: false,
  create: () => new Capitals(),
  sampleTask: ({ split, index, seed }) => ({
    task: { question: `question ${index % 16}` },
    seed: deriveSeed('capitals', seed, split, index),
  }),
  agents: [{ name: 'random', act: () => 'A1b2' }],
});
