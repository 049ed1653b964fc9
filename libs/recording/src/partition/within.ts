/** Settles like `promise`, or rejects with `late()` after `timeoutMs`; what the promise does later is not looked at. */
export function within<T>(promise: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(late());
    }, timeoutMs);
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}
