import { describe, expect, it } from 'vitest';
import { splitOf } from '../task-split.js';
import { describeEnvironmentContract } from '../testing/environment-contract.js';
import { hashEpisodes } from '../testing/hash-episodes.js';
import { requireAgent, playEpisode } from '../testing/play.js';
import { wordle } from './index.js';
import { markGuess } from './marks.js';
import { WORDLE_WORDS } from './wordle-words.js';
import { Wordle } from './wordle.js';

describeEnvironmentContract(wordle);

function started(secret: string): Wordle {
  const environment = new Wordle();
  environment.reset({ task: { secret }, seed: 0 });
  return environment;
}

describe('markGuess', () => {
  it.each([
    ['crane', 'crane', 'c c c c c'],
    ['abbey', 'babes', 'p p c c a'],
    ['abbey', 'kebab', 'a p c p p'],
    ['label', 'llama', 'c p p a a'],
    ['robot', 'floor', 'a a p c p'],
    ['sheep', 'geese', 'a p c p a'],
  ])('of the secret %s and the guess %s gives %s', (secret, guess, marks) => {
    expect(
      markGuess(secret, guess)
        .map((mark) => mark[0])
        .join(' '),
    ).toBe(marks);
  });

  it('keeps the definition for all pairs of words of five letters out of three', () => {
    const texts = Array.from({ length: 3 ** 5 }, (_, n) =>
      Array.from({ length: 5 }, (__, place) => 'abc'[Math.floor(n / 3 ** place) % 3]).join(''),
    );
    const faults: string[] = [];
    for (const secret of texts) {
      for (const guess of texts) {
        if (!isMarkedByDefinition(secret, guess)) faults.push(`${secret} ${guess}`);
      }
    }
    expect(faults).toEqual([]);
  });

  /**
   * A letter is correct exactly in its place; of each letter as many are marked as guess and secret share; and those present are the
   * first that are not correct.
   */
  function isMarkedByDefinition(secret: string, guess: string): boolean {
    const marks = markGuess(secret, guess);
    const placesCorrect = marks.every(
      (mark, place) => (mark === 'correct') === (guess[place] === secret[place]),
    );
    return (
      placesCorrect &&
      [...'abc'].every((letter) => {
        const count = (text: string): number => text.split(letter).length - 1;
        const own = marks.filter((_, place) => guess[place] === letter);
        const rest = own.filter((mark) => mark !== 'correct');
        const numPresent = rest.filter((mark) => mark === 'present').length;
        const numMarked = own.filter((mark) => mark !== 'absent').length;
        const presentFirst = rest.slice(0, numPresent).every((mark) => mark === 'present');
        return numMarked === Math.min(count(guess), count(secret)) && presentFirst;
      })
    );
  }
});

describe('Wordle', () => {
  it('shows all guesses with their marks, and anchors on what is known, whatever the order', () => {
    const environment = started('plant');
    expect(environment.step('crane').observation).toEqual({
      text: 'turn_1 c_absent r_absent a_correct n_correct e_absent',
      anchor: 'crane:aacca',
      legalActions: null,
    });
    const { anchor, text } = environment.step('table').observation;
    expect(text).toBe(
      'turn_1 c_absent r_absent a_correct n_correct e_absent turn_2 t_present a_present b_absent l_present e_absent',
    );
    const other = started('plant');
    other.step('table');
    expect(other.step('crane').observation.anchor).toBe(anchor);
  });

  it('pays 1 and ends when the secret is guessed', () => {
    const environment = started('plant');
    expect(environment.step('crane')).toMatchObject({ reward: 0, terminated: false, success: null });
    expect(environment.step('plant')).toMatchObject({
      reward: 1,
      rewardNames: ['solved'],
      terminated: true,
      success: true,
    });
  });

  it('ends without success after six guesses', () => {
    const environment = started('plant');
    const results = Array.from({ length: 6 }, () => environment.step('crane'));
    expect(results.map(({ success }) => success)).toEqual([null, null, null, null, null, false]);
    expect(results[5]).toMatchObject({ terminated: true, truncated: false, reward: 0 });
  });

  it.each([
    ['plant', 'plant', true],
    ['PLANT', 'plant', true],
    ['p l a n t', 'plant', true],
    ['Thought: it fits.\nAction: plant', 'plant', true],
    ['qqqqq', 'qqqqq', false],
    ['p l ant', null, false],
    ['plants', null, false],
    ['plan', null, false],
    ['', null, false],
  ])('reads %j as the guess %s (valid: %s)', (action, parsedAction, actionValid) => {
    expect(started('crane').step(action)).toMatchObject({
      parsedAction,
      actionValid,
      reward: actionValid ? 0 : -0.1,
    });
  });

  it('loses the turn for an invalid guess, and says so', () => {
    const environment = started('plant');
    expect(environment.step('qqqqq').observation).toMatchObject({ text: 'turn_1 invalid', anchor: '' });
    for (let turn = 2; turn <= 5; turn++) environment.step('qqqqq');
    expect(environment.step('qqqqq')).toMatchObject({ terminated: true, success: false });
  });

  it.each([{ secret: 'qqqqq' }, { secret: 'PLANT' }, { secret: 5 }])('refuses the task %j', (task) => {
    expect(() => new Wordle().reset({ task, seed: 0 })).toThrowError(
      expect.objectContaining({
        code: 'INVALID_TASK',
        message: expect.stringContaining('task.secret') as string,
      }) as Error,
    );
  });
});

describe('the list of words', () => {
  it('has different words of five small letters, some in each split', () => {
    expect(WORDLE_WORDS.filter((word) => !/^[a-z]{5}$/.test(word))).toEqual([]);
    expect(new Set(WORDLE_WORDS).size).toBe(WORDLE_WORDS.length);
    for (const split of ['train', 'validation', 'test'] as const) {
      expect(WORDLE_WORDS.filter((word) => splitOf(word) === split).length).toBeGreaterThan(30);
    }
  });
});

describe('agents of wordle, on every word as the secret', () => {
  async function play(name: string): Promise<{ success: number; guesses: number; first: Set<string> }> {
    const sums = { success: 0, guesses: 0, first: new Set<string>() };
    for (const secret of WORDLE_WORDS) {
      const { actions, results } = await playEpisode(new Wordle(), {
        task: { secret },
        seed: 0,
        maxSteps: 6,
        agent: requireAgent(wordle, name),
        random: () => 0.5,
      });
      sums.first.add(actions[0]);
      sums.guesses += actions.length;
      sums.success += Number(results[results.length - 1].success);
    }
    return {
      success: sums.success / WORDLE_WORDS.length,
      guesses: sums.guesses / WORDLE_WORDS.length,
      first: sums.first,
    };
  }

  it('expert finds at least 99 % of them, begins alike for all, and beats any word that fits', async () => {
    const expert = await play('expert');
    expect(expert.success).toBeGreaterThanOrEqual(0.99);
    expect(expert.first.size).toBe(1);
    expect(expert.guesses).toBeLessThan((await play('consistent')).guesses);
  });
});

describe('tasks and episodes of wordle', () => {
  it('are the same bytes on every machine and in every version', async () => {
    expect(await hashEpisodes('wordle', 60)).toBe(
      '0a51be6bac4cc838001bd3257b1a92ac86ca14dfc3525e1465f96df714d0f241',
    );
  });
});
