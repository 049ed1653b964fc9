import type { Json } from '@retrace/trajectory';

type FieldRead = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly fault: string };

/** Fields of verl's rows that have the reset options of an environment. */
const TASK_FIELDS = ['env_kwargs', 'extra_info'];

/** The part of a row that an environment is reset with. */
export function environmentTask(
  row: Json,
  { taskField, isQuestion }: { readonly taskField?: string; readonly isQuestion: boolean },
): FieldRead {
  if (taskField === undefined && isQuestion) return { ok: true, value: row };
  const paths = taskField === undefined ? TASK_FIELDS : [taskField];
  for (const path of paths) {
    const value = path.split('.').reduce<Json | undefined>(findField, row);
    if (value !== undefined && value !== null) return { ok: true, value };
  }
  return {
    ok: false,
    fault: `field "${paths.join('" or "')}": got nothing, must be the task of the environment`,
  };
}

function findField(value: Json | undefined, key: string): Json | undefined {
  const isRecord = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  return isRecord ? (value as Readonly<Record<string, Json>>)[key] : undefined;
}
