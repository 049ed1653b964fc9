import { FINAL_FAILURE_EXIT_CODE } from '@retrace/process';
import { expect, it } from 'vitest';
import { TrainerError } from './trainer-error.js';

it('TrainerError: says by its exit code whether another start would end in the same way', () => {
  expect(new TrainerError('TEACHER_REFUSED', '').exitCode).toBe(FINAL_FAILURE_EXIT_CODE);
  // An engine that others start may answer again.
  for (const code of ['ENGINE_UNAVAILABLE', 'ENGINE_REFUSED', 'ENGINE_LOST'] as const)
    expect(new TrainerError(code, '').exitCode).toBe(1);
});
