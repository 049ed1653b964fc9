interface AsyncStorage<Value> {
  run<Result>(value: Value, work: () => Result): Result;
  getStore(): Value | undefined;
}

interface NodeModules {
  getBuiltinModule?(name: 'node:async_hooks'): { AsyncLocalStorage: new () => AsyncStorage<string> };
}

/**
 * Remembers, in asynchronous work that a tool started, whose tool it was: the episode that calls. Needs Node; elsewhere nested agents
 * are recorded without their parent.
 */
export class NestedAgents {
  private readonly storage: AsyncStorage<string> | null;

  constructor() {
    const { process } = globalThis as { process?: NodeModules };
    const hooks = process?.getBuiltinModule?.('node:async_hooks');
    this.storage = hooks ? new hooks.AsyncLocalStorage() : null;
  }

  /** The episode whose tool runs here. */
  get parentEpisode(): string | undefined {
    return this.storage?.getStore();
  }

  runTool<Result>(episodeId: string, work: () => Result): Result {
    return this.storage ? this.storage.run(episodeId, work) : work();
  }
}
