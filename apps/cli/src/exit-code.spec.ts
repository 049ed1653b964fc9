import { CommanderError } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import { CliError } from './cli-error.js';
import { exitCodeOf } from './exit-code.js';

describe('exitCodeOf', () => {
  it('gives 0 when help or the version was asked for', () => {
    expect(exitCodeOf(new CommanderError(0, 'commander.helpDisplayed', ''))).toEqual({
      exitCode: 0,
      isPrinted: true,
    });
  });

  it('gives 2 when the command line is wrong', () => {
    expect(exitCodeOf(new CommanderError(1, 'commander.unknownOption', ''))).toEqual({
      exitCode: 2,
      isPrinted: true,
    });
    expect(exitCodeOf(new CliError('ESTIMATOR_UNKNOWN', ''))).toEqual({ exitCode: 2, isPrinted: false });
  });

  it('gives 3 when the data is insufficient for an answer', () => {
    expect(exitCodeOf(new CliError('EVALUATION_REFUSED', '')).exitCode).toBe(3);
    expect(exitCodeOf(Object.assign(new Error(), { code: 'NOT_REPLAYABLE' })).exitCode).toBe(3);
  });

  it('gives 1 for a fault that was found and for any other error', () => {
    expect(exitCodeOf(new CliError('STORE_FAULTY', '')).exitCode).toBe(1);
    expect(exitCodeOf(new TypeError('x'))).toEqual({ exitCode: 1, isPrinted: false });
    expect(exitCodeOf('thrown text').exitCode).toBe(1);
  });
});
