import { choice, nullable, real, text } from '@retrace/algorithms/registry';
import { registerReward, type AssignedValue } from '../component.js';

/* A reward from what people and programs said of an episode. Importing this file registers it. */

registerReward(import.meta.url, {
  name: 'assigned',
  description:
    'A reward that was assigned over the API, to the episode or to its steps: the newest of each source, and their mean; missing where there is none',
  readsOutcomesOnly: true,
  options: {
    name: text(''),
    source: text(''),
    of: choice('episode', 'steps'),
    unassigned: nullable(real(0)),
    until: text(''),
  },
  optionsFault: ({ name }) => (name === '' ? 'name is empty, must be that of an assigned reward' : null),
  assignedUntil: ({ until }) => until,
  score({ steps }, { name, source, of, unassigned, until }, { assigned }) {
    if (assigned === undefined)
      throw new Error('assigned needs the rewards that were assigned to the episode');
    if (until === '') throw new Error('"until" is empty: retrace train and retrace score fill it in');
    const own = assigned(until).filter(
      (reward) => reward.name === name && (source === '' || reward.source === source),
    );
    const valueOf = (step: number | null) => mean(own.filter((reward) => reward.step === step)) ?? unassigned;
    if (of === 'episode') return { scope: 'episode', value: valueOf(null) };
    return { scope: 'step', values: steps.map((_, step) => valueOf(step)) };
  },
});

function mean(rewards: readonly AssignedValue[]): number | null {
  if (rewards.length === 0) return null;
  return rewards.reduce((sum, { value }) => sum + value, 0) / rewards.length;
}
