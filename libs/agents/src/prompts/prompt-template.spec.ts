import { describe, expect, it } from 'vitest';
import { AgentFormatError } from '../errors.js';
import { agentTemplates, HISTORY_POLICIES, type PromptValues } from './agent-templates.js';
import { PromptTemplate } from './prompt-template.js';

const values: PromptValues = {
  task: 'put a mug on the desk',
  observation: 'You are in a kitchen.',
  legal_actions: ['go to desk 1', 'look'],
  instructions: 'Write <action>…</action>.',
  problem: '',
  turn: 4,
  step_count: 3,
  max_turns: 50,
  history: [
    { number: 2, observation: 'A table.', action: 'go to table 1' },
    { number: 3, observation: 'A mug.', action: 'take mug 1' },
  ],
  history_length: 2,
  summary: '',
};
const none = { system: null, firstUser: null, user: null, summary: null };

function render(policy: (typeof HISTORY_POLICIES)[number], change: Partial<PromptValues> = {}): string {
  return agentTemplates(none, policy).user.render({ ...values, ...change });
}

describe('PromptTemplate', () => {
  it('finds the placeholders that it reads, and none that it sets itself', () => {
    const source =
      "{% set n = 1 %}{% for turn in history %}{{ turn.action | join(', ') }}{{ loop.index }}{% endfor %}{% if not task is defined %}{{ n }}{% endif %}";
    const template = new PromptTemplate(source, ['history', 'task', 'observation']);
    expect([...template.placeholders].sort()).toEqual(['history', 'task']);
  });

  it.each([
    ['{{ obsevation }}', /unknown placeholder "obsevation"; the placeholders here are task, observation/],
    ['{% for a in turns %}{% endfor %}', /unknown placeholder "turns"/],
    ['{{ task', /is no Jinja template/],
    ['{% if task %}', /is no Jinja template/],
  ])('refuses %s', (source, message) => {
    const make = () => new PromptTemplate(source, ['task', 'observation']);
    expect(make).toThrow(AgentFormatError);
    expect(make).toThrow(message);
  });

  it('does not read values as templates', () => {
    const template = new PromptTemplate('{{ observation }}', ['observation']);
    expect(template.render({ observation: '{{ task }} {% if %}' })).toBe('{{ task }} {% if %}');
  });
});

describe('the default templates', () => {
  it('tell of the last turns as verl-agent does: task, steps so far, numbered turns, observation, actions', () => {
    expect(render('last')).toBe(
      `Task: put a mug on the desk
Steps so far: 3.

The last 2, each with what you saw and did:
[Observation 2: 'A table.', Action 2: 'go to table 1']
[Observation 3: 'A mug.', Action 3: 'take mug 1']

Step 4. You see: You are in a kitchen.

Possible actions: ['go to desk 1', 'look']

Write <action>…</action>.`,
    );
  });

  it('show the summary with the turns since, and why the last turn was invalid', () => {
    const history = values.history.slice(1);
    expect(
      render('summary', {
        history,
        history_length: 1,
        summary: 'The mug is mine.',
        problem: 'No action.',
        legal_actions: [],
      }),
    ).toBe(
      `Task: put a mug on the desk
Steps so far: 3. Your notes on them: The mug is mine.

The last 1, each with what you saw and did:
[Observation 3: 'A mug.', Action 3: 'take mug 1']

No action.

Step 4. You see: You are in a kitchen.

Write <action>…</action>.`,
    );
  });

  it('give a full conversation the instructions once', () => {
    const templates = agentTemplates(none, 'full');
    const all = { ...values };
    expect(templates.firstUser.render(all)).toBe(
      "You are in a kitchen.\n\nPossible actions: ['go to desk 1', 'look']\n\nWrite <action>…</action>.",
    );
    expect(templates.user.render(all)).toBe(
      "You are in a kitchen.\n\nPossible actions: ['go to desk 1', 'look']",
    );
  });

  it('show nothing but the observation where there is nothing else', () => {
    expect(render('observation', { legal_actions: [], instructions: '' })).toBe('You are in a kitchen.');
  });
});
