/** `fail`: Retrace can't work so; `warn`: it works with less. */
export type Verdict = 'ok' | 'warn' | 'fail';

export interface CheckResult {
  readonly check: string;
  readonly verdict: Verdict;
  /** What was found, and what to do about it where it isn't ok. */
  readonly detail: string;
}

/** Runs one check; what it throws is a failure with the error's sentence. */
export async function runCheck(
  check: string,
  find: () => Promise<Omit<CheckResult, 'check'>> | Omit<CheckResult, 'check'>,
): Promise<CheckResult> {
  try {
    return { check, ...(await find()) };
  } catch (error) {
    return { check, verdict: 'fail', detail: error instanceof Error ? error.message : String(error) };
  }
}
