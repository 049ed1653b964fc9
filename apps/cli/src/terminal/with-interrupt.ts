/** Runs `work` with a signal that Ctrl-C aborts, for the reason given, and so does SIGTERM where `signals` has it. */
export async function withInterrupt<T>(
  work: (signal: AbortSignal) => Promise<T>,
  {
    reason,
    signals = ['SIGINT'],
  }: { readonly reason?: Error; readonly signals?: readonly NodeJS.Signals[] } = {},
): Promise<T> {
  const controller = new AbortController();
  const interrupt = () => {
    controller.abort(reason);
  };
  for (const name of signals) process.once(name, interrupt);
  try {
    return await work(controller.signal);
  } finally {
    for (const name of signals) process.off(name, interrupt);
  }
}
