/** An instance on a server. Servers number them from 0 again after a restart, so a number alone names none. */
export interface ServerInstance {
  readonly id: number;
  /** Counts the restarts of the server that were noticed before it was made. */
  readonly life: number;
}

/**
 * Instances of an environment on one server. Where the server can't close them, those that no episode uses are kept for later ones: it has as many as
 * were played at the same time, not one more for each episode.
 */
export class Instances {
  private life = 0;
  private readonly idle: ServerInstance[] = [];
  /** Numbers of this life that are in use or idle. */
  private readonly known = new Set<number>();

  /** An idle instance, which must be reset; null where one has to be made. */
  take(): ServerInstance | null {
    return this.idle.pop() ?? null;
  }

  /** Registers an instance that the server made. A number that is known already says that the server was started again meanwhile. */
  add(id: number): ServerInstance {
    if (this.known.has(id)) this.forgetAll();
    this.known.add(id);
    return { id, life: this.life };
  }

  /** Keeps an instance that is no longer used. */
  giveBack(instance: ServerInstance): void {
    if (this.isCurrent(instance)) this.idle.push(instance);
  }

  /** Removes an instance that was closed, or whose state is unknown. */
  remove(instance: ServerInstance): void {
    if (this.isCurrent(instance)) this.known.delete(instance.id);
  }

  /** Whether the server still has it, as far as that was noticed; after a restart its number may be that of another. */
  isCurrent({ life }: ServerInstance): boolean {
    return life === this.life;
  }

  /** Forgets all, since the server was started again. */
  forgetAll(): void {
    this.life += 1;
    this.idle.length = 0;
    this.known.clear();
  }
}
