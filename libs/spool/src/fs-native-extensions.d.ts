/** The part that is used here of a package that has no types. */
declare module 'fs-native-extensions' {
  interface LockOptions {
    /** A lock that many may have at once, and nobody beside an exclusive one (default false). */
    readonly shared?: boolean;
  }

  /** Returns false where another open file has a lock that excludes this one. */
  export function tryLock(fileDescriptor: number, options?: LockOptions): boolean;
  /** Blocks the thread until no other lock excludes this one. */
  export function waitForLockSync(fileDescriptor: number, options?: LockOptions): void;
  export function unlock(fileDescriptor: number): void;
}
