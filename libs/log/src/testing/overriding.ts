/** Returns `target` with some of its methods replaced. */
export function overriding<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      const method = (methods as Record<PropertyKey, unknown>)[name];
      if (method !== undefined) return method;
      const own: unknown = Reflect.get(target, name, target);
      return typeof own === 'function' ? (own.bind(target) as unknown) : own;
    },
  });
}
