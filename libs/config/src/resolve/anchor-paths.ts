import { resolve } from 'node:path';
import { isRecord, type PlainObject } from '../recipe/plain-object.js';

/**
 * Makes the paths in a recipe absolute, since a run is trained, replayed and scored from other directories: those of its environment, agent, models,
 * engine and tasks.
 */
export function anchorPaths(plain: PlainObject, directory: string): void {
  if (isRecord(plain.environment)) anchorEnvironment(plain.environment, directory);
  if (isRecord(plain.agent)) anchorAgent(plain.agent, directory);
  anchorModel(plain, directory);
  anchorEngine(plain, directory);
  anchorTasks(plain, directory);
}

/** The same of the modules of rewards. */
export function anchorRewards({ reward }: PlainObject, directory: string): void {
  const components = isRecord(reward) ? reward.components : undefined;
  if (!Array.isArray(components)) return;
  for (const component of components as unknown[]) {
    if (isRecord(component) && typeof component.module === 'string') {
      component.module = resolve(directory, component.module);
    }
  }
}

function anchorAgent(agent: PlainObject, directory: string): void {
  for (const field of ['module', 'formatModule']) {
    const path = agent[field];
    if (typeof path === 'string') agent[field] = resolve(directory, path);
  }
}

/** The module's path and the folder in which servers start. */
export function anchorEnvironment(environment: PlainObject, directory: string): void {
  const { module, server } = environment;
  if (typeof module === 'string') environment.module = resolve(directory, module);
  if (!isRecord(server) || !Array.isArray(server.command)) return;
  server.directory = resolve(directory, typeof server.directory === 'string' ? server.directory : '.');
}

/** The paths of the model, of its adapters, of its critic and of its teacher become absolute. */
function anchorModel({ policy, distillation }: PlainObject, directory: string): void {
  const teacher = isRecord(distillation) ? distillation.teacher : undefined;
  if (isRecord(teacher) && typeof teacher.model === 'string' && teacher.model !== '')
    teacher.model = resolve(directory, teacher.model);
  if (!isRecord(policy)) return;
  for (const field of ['model', 'adapter', 'critic']) {
    const path = policy[field];
    if (typeof path === 'string' && path !== '') policy[field] = resolve(directory, path);
  }
}

/** The paths of the worker's Python and of its token; a Python without a slash is a program of the path. */
function anchorEngine({ engine }: PlainObject, directory: string): void {
  if (!isRecord(engine)) return;
  const { python, tokenFile } = engine;
  if (typeof python === 'string' && python.includes('/')) engine.python = resolve(directory, python);
  if (typeof tokenFile === 'string' && tokenFile !== '') engine.tokenFile = resolve(directory, tokenFile);
}

/** The paths of task files become absolute, since collectors read them from other directories. */
function anchorTasks({ tasks }: PlainObject, directory: string): void {
  if (!isRecord(tasks)) return;
  for (const split of ['train', 'validation', 'test']) {
    const files = tasks[split];
    if (!Array.isArray(files)) continue;
    tasks[split] = files.map((file: unknown) => (typeof file === 'string' ? resolve(directory, file) : file));
  }
}
