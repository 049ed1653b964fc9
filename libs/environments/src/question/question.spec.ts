import { describe, expect, it } from 'vitest';
import { describeEnvironmentContract } from '../testing/environment-contract.js';
import { question } from './index.js';

describeEnvironmentContract(question);

const row = (truth: unknown) => ({
  data_source: 'openai/gsm8k',
  prompt: [
    { role: 'system', content: 'Answer.' },
    { role: 'user', content: 'How many?' },
  ],
  ...(truth !== undefined && { reward_model: { style: 'rule', ground_truth: truth } }),
});

describe('question', () => {
  it('shows the texts of all messages', () => {
    expect(question.create().reset({ task: row('72') as never, seed: 0 })).toMatchObject({
      text: 'Answer.\n\nHow many?',
    });
  });

  it.each([
    ['72', 'She has 48 + 24 = 72.\n#### 72', 1, true],
    ['1,000', '<answer>1000</answer>', 1, true],
    ['72', 'Thought: many\nAction: 72', 1, true],
    ['72', '71', 0, false],
    ['72', 'seventy-two', -0.1, false],
    ['\\frac{1}{2}', 'It is \\boxed{\\frac12}', 1, true],
    [['Paris', 'the city of Paris'], 'paris.', 1, true],
    ['Paris', 'London', 0, false],
    ['Paris', ' ', -0.1, false],
    [undefined, 'anything', null, null],
    [{ target: 'x' }, 'anything', null, null],
  ])('reference %j, answer %j: reward %j, success %j', async (truth, answer, reward, success) => {
    const environment = question.create();
    await environment.reset({ task: row(truth) as never, seed: 0 });
    expect(await environment.step(answer)).toMatchObject({ reward, success, terminated: true });
  });

  it('names the field of a bad row', () => {
    const task = { prompt: [{ role: 'user', content: 5 }] };
    expect(() => question.create().reset({ task, seed: 0 })).toThrow(
      'field "prompt[0].content": got 5, must be a text',
    );
  });
});
