import type { TaggedFormatSpec } from './tagged.js';

/** verl-agent's format for ALFWorld, WebShop and Sokoban. */
export const THINK_ACTION: TaggedFormatSpec = {
  name: 'think-action',
  thoughtTags: ['think'],
  actionTag: 'action',
  instructions: `Answer with your reasoning and then one action:
<think>your reasoning</think><action>one action</action>`,
};

export const THINK_ANSWER: TaggedFormatSpec = {
  name: 'think-answer',
  thoughtTags: ['think'],
  actionTag: 'answer',
  instructions: `Answer with your reasoning and then your answer:
<think>your reasoning</think><answer>your answer</answer>`,
};

/** OpenManus-RL's format, whose prompts ask for a plan, and in WebShop for memory and reflection, too. */
export const PLAN_ACTION: TaggedFormatSpec = {
  name: 'plan-action',
  thoughtTags: ['plan', 'memory', 'reflection'],
  actionTag: 'action',
  instructions: `Answer with your plan and then one action:
<plan>your plan</plan><action>one action</action>`,
};
