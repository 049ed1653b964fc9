import { readFileSync } from 'node:fs';

/**
 * Processor seconds of this process, and of its children that have ended and of theirs: fields 14 to 17 of proc(5), in hundredths. Null where the system
 * has no such file.
 *
 * @returns {{ own: number, ofChildren: number } | null}
 */
export function readProcessorTime() {
  try {
    // After the program's name, which may hold spaces.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    const [user, system, childrenUser, childrenSystem] = fields
      .slice(11, 15)
      .map((field) => Number(field) / 100);
    return { own: user + system, ofChildren: childrenUser + childrenSystem };
  } catch {
    return null;
  }
}
