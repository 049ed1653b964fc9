import { ValidationPipe } from '@nestjs/common';
import { ProblemError } from './problem.js';
import { describeViolations } from './violations.js';

/** Checks every query, path and body against its class, and refuses parameters that the class does not have. */
export function createValidationPipe(): ValidationPipe {
  return new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    exceptionFactory: (errors) => {
      const violations = describeViolations(errors);
      return new ProblemError('INVALID_REQUEST', violations.map(({ rule }) => rule).join('; '), violations);
    },
  });
}
