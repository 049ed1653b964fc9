/**
 * An environment that fails in every way that a user's environment may. Four turns, in which `left` pays 1. What goes wrong in an episode
 * follows from its seed and its place in the group, so a test knows how each episode has to end.
 *
 * Load it into every process of a run with `NODE_OPTIONS=--import=<path of this file>`.
 */
import { defineEnvironment, deriveSeed, oneWordParser, Pcg32, randomAgent } from '@retrace/environments';

const MOVES = ['left', 'right'];
const NUM_TURNS = 4;
const LATE_MS = 3_000;
const parseMove = oneWordParser(MOVES);

/** Everything that may go wrong, with the reason that the episode's end then has. */
const FAULTS = {
  throwsInReset: /^environment failed: reset threw "no more sandboxes"$/,
  rejectsInReset: /^environment failed: reset threw "connection refused"$/,
  hangsInReset: /^environment failed: reset did not answer within \d+ ms$/,
  longTask: /^task refused: its first prompt has \d+ tokens/,
  throwsInStep: /^environment failed: step threw "lost the game server"$/,
  throwsText: /^environment failed: step threw "out of luck"$/,
  hangsInStep: /^environment failed: step did not answer within \d+ ms$/,
  answersLate: /^environment failed: step did not answer within \d+ ms$/,
  // Left out of its step; the episode goes on.
  rewardNaN: /^$/,
  hugeText:
    // Cut to what an event holds, which no word of the vocabulary is.
    /^environment failed: its observation can't be tokenized: word "x+…$/,
  noObservation:
    /^environment failed: step gave an invalid answer: observation is undefined; must be an object$/,
  numberAsText: /^environment failed: step gave an invalid answer: observation\.text is 7; must be text/,
  answersText: /^environment failed: step gave an invalid answer: result is "left"; must be an object$/,
  unknownWord:
    /^environment failed: its observation can't be tokenized: word "sideways" is not in the vocabulary/,
};
/** The seed that an episode is recorded with when no task could be sampled for its group. */
const NO_SEED = 0;
const NO_TASK = {
  fault: 'throwsInSampleTask',
  detail: /^environment failed: sampleTask threw "no tasks left"$/,
  numSteps: 0,
};
const FAULT_NAMES = Object.keys(FAULTS);
const FAULT_FRACTION = 0.4;

/** The fault of an episode (null = none), and the turn in which it happens. */
function fateOf({ seed, member = 0 }) {
  const random = new Pcg32(deriveSeed('chaos', seed, member));
  const fault =
    random.nextFloat() < FAULT_FRACTION ? FAULT_NAMES[random.nextBelow(FAULT_NAMES.length)] : null;
  return { fault, turn: random.nextBelow(NUM_TURNS - 1) };
}

/**
 * How an episode has to end: the pattern of its `endDetail`, and its number of steps.
 *
 * @param {{ seed: number, member: number }} episode
 */
export function expectedEnd({ seed, member }) {
  if (seed === NO_SEED) return NO_TASK;
  const { fault, turn } = fateOf({ seed, member });
  if (fault === null || fault === 'rewardNaN') return { fault: null, detail: /^$/, numSteps: NUM_TURNS };
  const isAtReset = fault.endsWith('InReset') || fault === 'longTask';
  // The step whose observation has an unknown word is complete; what follows it is not.
  const numSteps = isAtReset ? 0 : turn + Number(['unknownWord', 'hugeText'].includes(fault));
  return { fault, detail: FAULTS[fault], numSteps };
}

/** The text of an answer that came too late; no step may have it. */
export const LATE_TEXT = 'late';

class Chaos {
  turn = 0;
  fate = { fault: null, turn: 0 };
  hasFailed = false;

  reset(options) {
    this.refuseReuse();
    this.turn = 0;
    this.fate = fateOf(options);
    switch (this.fate.fault) {
      case 'throwsInReset':
        throw this.failure('no more sandboxes');
      case 'rejectsInReset':
        return Promise.reject(this.failure('connection refused'));
      case 'hangsInReset':
        this.hasFailed = true;
        return new Promise(() => undefined);
      case 'longTask':
        return this.observe(Array.from({ length: 1000 }, () => 'here').join(' '));
      default:
        return this.observe();
    }
  }

  step(action) {
    this.refuseReuse();
    const isTime = this.turn === this.fate.turn;
    this.turn += 1;
    const answer = this.answer(action);
    return isTime ? this.spoil(answer) : answer;
  }

  close() {
    this.hasFailed = true;
  }

  spoil(answer) {
    const { fault } = this.fate;
    // A task that is too long is refused before any step.
    if (fault === null || fault === 'longTask') return answer;
    this.hasFailed = fault !== 'rewardNaN';
    const spoilt = {
      hangsInStep: () => new Promise(() => undefined),
      answersLate: () =>
        new Promise((resolve) => {
          setTimeout(() => resolve({ ...answer, observation: this.observe(LATE_TEXT) }), LATE_MS).unref();
        }),
      rewardNaN: () => ({ ...answer, reward: Number.NaN }),
      hugeText: () => Promise.resolve({ ...answer, observation: this.observe('x'.repeat(10_000_000)) }),
      noObservation: () => ({ ...answer, observation: undefined }),
      numberAsText: () => ({ ...answer, observation: this.observe(7) }),
      answersText: () => 'left',
      unknownWord: () => ({ ...answer, observation: this.observe('sideways') }),
      throwsInStep: () => {
        throw new Error('lost the game server');
      },
      throwsText: () => {
        throw 'out of luck';
      },
    };
    return spoilt[fault]();
  }

  answer(action) {
    const parsed = parseMove(action);
    const reward = parsed.parsedAction === 'left' ? 1 : 0;
    const isOver = this.turn === NUM_TURNS;
    return {
      observation: this.observe(),
      reward,
      rewardNames: ['left'],
      rewardValues: [reward],
      terminated: isOver,
      truncated: false,
      ...parsed,
      success: isOver ? reward === 1 : null,
      info: null,
    };
  }

  observe(text = 'here') {
    return { text, anchor: null, legalActions: MOVES };
  }

  failure(message) {
    this.hasFailed = true;
    return new Error(message);
  }

  refuseReuse() {
    if (this.hasFailed) throw new Error('used again after it failed');
  }
}

export const chaos = defineEnvironment({
  name: 'chaos',
  description: 'Fails in every way that an environment may',
  maxSteps: NUM_TURNS,
  words: ['here', LATE_TEXT, ...MOVES],
  actionWords: MOVES,
  splitsAreDisjoint: false,
  offersAnchors: false,
  create: () => new Chaos(),
  sampleTask: ({ split, index, seed }) => {
    const sampled = deriveSeed('chaos-task', seed, split, index);
    if (sampled % 16 === 3) throw new Error('no tasks left');
    return { task: {}, seed: sampled };
  },
  agents: [
    randomAgent(MOVES),
    {
      name: 'endless',
      act: () => {
        for (;;);
      },
    },
  ],
});
