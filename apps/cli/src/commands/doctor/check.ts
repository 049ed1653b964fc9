/** `fail`: Retrace cannot work; `warn`: it works with restrictions. */
export type Verdict = 'ok' | 'warn' | 'fail';

export interface CheckResult {
  readonly check: string;
  readonly verdict: Verdict;
  /** The finding, and what to do about it unless the verdict is ok. */
  readonly detail: string;
}

/** Runs a check. An error that it throws is a failed check with the error's message. */
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
