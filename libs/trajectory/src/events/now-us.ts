/** Now, as whole microseconds since the Unix epoch: what `occurredAtUs` of an event says. By the machine's clock, so it is no measure of time that passed. */
export function nowUs(): number {
  return Date.now() * 1000;
}
