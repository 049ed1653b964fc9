import { ConfigError } from '@retrace/config';

/** Runs a role's main: exit code 0 when it returns; its error as one sentence on stderr, and exit code 1, when it throws. */
export async function runRole(main: () => Promise<void>): Promise<void> {
  try {
    await main();
    process.exit(0);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}

/** @throws ConfigError `ENVIRONMENT_VARIABLE_INVALID` when it isn't set. */
export function requireVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') {
    throw new ConfigError('ENVIRONMENT_VARIABLE_INVALID', `${name}: must be set; the supervisor sets it`);
  }
  return value;
}
