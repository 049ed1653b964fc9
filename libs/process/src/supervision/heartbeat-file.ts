import { writeFileSync } from 'node:fs';

const INTERVAL_MS = 1000;

/**
 * Writes the file every second while the event loop runs, so that a container's health check can tell from the file's age whether this
 * process is well.
 */
export function keepHeartbeatFile(path: string): void {
  const beat = () => {
    try {
      writeFileSync(path, String(process.pid));
    } catch {
      // A full disk, for example: the file grows old, and the process goes on.
    }
  };
  beat();
  setInterval(beat, INTERVAL_MS).unref();
}
