interface ServerPause {
  readonly pause: () => Promise<void>;
  readonly resume: () => Promise<void>;
}

/**
 * Changes a server while it is paused, and resumes it whether or not the change succeeded.
 *
 * @throws what `change` throws; where the server cannot be resumed either, an AggregateError of both
 */
export async function whilePaused(
  { pause, resume }: ServerPause,
  change: () => Promise<void>,
): Promise<void> {
  let fault: { readonly error: unknown } | null = null;
  try {
    await pause();
    await change();
  } catch (error) {
    fault = { error };
  }
  try {
    await resume();
  } catch (error) {
    if (fault === null) throw error;
    throw new AggregateError(
      [fault.error, error],
      'the weights were not replaced, and the server did not resume',
      { cause: error },
    );
  }
  if (fault !== null) throw fault.error;
}
