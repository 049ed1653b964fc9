/** Name of a rule, also of alarms that have none. */
export function nameOfRule(rule: string): string {
  return rule === '' ? 'alarm' : rule;
}
