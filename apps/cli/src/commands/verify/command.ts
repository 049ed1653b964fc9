import { newCommand } from '../../options.js';

export const verifyCommand = () =>
  newCommand('verify')
    .description(
      'check that the store holds every acknowledged event exactly once, without gaps; exits 1 on any fault, 3 if it can’t tell',
    )
    .action(async (_, command) => (await import('./verify.js')).verify(command.optsWithGlobals()));
