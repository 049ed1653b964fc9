import { ProcessError } from './process-error.js';

/** @throws ProcessError `ENVIRONMENT_VARIABLE_INVALID` when it isn't set. */
export function requireVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') {
    throw new ProcessError('ENVIRONMENT_VARIABLE_INVALID', `${name}: must be set; the supervisor sets it`);
  }
  return value;
}
