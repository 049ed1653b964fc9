import { Command } from '@commander-js/extra-typings';
import { dataDirOption, jsonOption, verboseOption } from '../../options.js';

export const verifyCommand = () =>
  new Command('verify')
    .description(
      'check that the store holds every acknowledged event exactly once, without gaps; exits 1 on any fault',
    )
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (options) => (await import('./verify.js')).verify(options));
