import { CommanderError } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import { CliError } from './cli-error.js';
import { toErrorCode, toExitCode } from './exit-code.js';

const withCode = (code: string) => Object.assign(new Error(), { code });

describe('toExitCode', () => {
  it('gives 0 when help or the version was asked for', () => {
    expect(toExitCode(new CommanderError(0, 'commander.helpDisplayed', ''), '')).toBe(0);
  });

  it('gives 2 when the command line, the environment or the recipe is wrong', () => {
    expect(toExitCode(new CommanderError(1, 'commander.unknownOption', ''), '')).toBe(2);
    for (const command of ['train', 'verify']) {
      expect(toExitCode(new CliError('ESTIMATOR_UNKNOWN', ''), command)).toBe(2);
      expect(toExitCode(new CliError('RUN_UNKNOWN', ''), command)).toBe(2);
      expect(toExitCode(withCode('ENVIRONMENT_VARIABLE_INVALID'), command)).toBe(2);
      expect(toExitCode(withCode('ENGINE_UNAVAILABLE'), command)).toBe(2);
      expect(toExitCode(withCode('ALARM_UNKNOWN'), command)).toBe(2);
      expect(toExitCode(withCode('SILENCE_UNKNOWN'), command)).toBe(2);
    }
  });

  it('gives 3 when the data is insufficient for an answer', () => {
    expect(toExitCode(new CliError('EVALUATION_REFUSED', ''), 'evaluate')).toBe(3);
    expect(toExitCode(withCode('NOT_REPLAYABLE'), 'replay')).toBe(3);
    expect(toExitCode(new CliError('NOTHING_TO_CHECK', ''), 'verify')).toBe(3);
  });

  it('gives 3 when a check fails without an answer, and 1 when another command fails', () => {
    for (const error of [withCode('STORE_UNAVAILABLE'), new TypeError('x'), 'thrown text']) {
      expect(toExitCode(error, 'verify')).toBe(3);
      expect(toExitCode(error, 'train')).toBe(1);
    }
  });

  it('gives 1 when a check finds a fault', () => {
    expect(toExitCode(new CliError('STORE_FAULTY', ''), 'verify')).toBe(1);
    expect(toExitCode(withCode('LOG_CORRUPT'), 'verify')).toBe(1);
    expect(toExitCode(new CliError('LOGPROBS_DIFFER', ''), 'verify')).toBe(1);
    expect(toExitCode(new CliError('REPLAY_DIFFERS', ''), 'replay')).toBe(1);
    expect(toExitCode(new CliError('CHECK_FAILED', ''), 'doctor')).toBe(1);
  });
});

describe('toErrorCode', () => {
  it('gives the code of an error, and one for errors that have none', () => {
    expect(toErrorCode(withCode('PORT_TAKEN'))).toBe('PORT_TAKEN');
    expect(toErrorCode(new CommanderError(1, 'commander.unknownOption', ''))).toBe('USAGE');
    expect(toErrorCode(new TypeError('x'))).toBe('UNEXPECTED');
  });
});
