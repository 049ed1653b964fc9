import type { ScriptedAgent } from '@retrace/environments';
import { RemoteEnvironment } from '../remote/remote-environment.js';

/** Tries commands of TextCraft's opening at random: crafts what it lists, and gets what that takes. */
export const randomCrafter: ScriptedAgent = {
  name: 'random',
  act: (environment, _, random) => {
    const opening = environment instanceof RemoteEnvironment ? environment.opening : '';
    const commands = [...opening.matchAll(/^craft .*$/gm)].map(([command]) => command.trim());
    const taken = commands.flatMap((command) => (command.split(' using ')[1] ?? '').split(', '));
    const actions = [
      'inventory',
      ...commands,
      ...taken.filter((one) => one !== '').map((one) => `get ${one}`),
    ];
    return `Action: ${actions[Math.floor(random() * actions.length)]}`;
  },
};
