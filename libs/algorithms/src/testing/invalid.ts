/** Runs `act` and gives the code and message of the error it must throw; fails when it throws none. */
export function catchFault(act: () => unknown): { readonly code: unknown; readonly message: string } {
  try {
    act();
  } catch (error) {
    if (error instanceof Error) return { code: (error as { code?: unknown }).code, message: error.message };
    throw error;
  }
  throw new Error('nothing was thrown');
}
