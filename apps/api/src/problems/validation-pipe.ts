import { ValidationPipe, type ArgumentMetadata } from '@nestjs/common';
import * as validation from '@retrace/validation';
import { ProblemError } from './problem.js';
import { describeViolations } from './violations.js';

/** Nest's own pipe takes the body `null` for an empty object. */
class BodyCheckingPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (value === null && metadata.type === 'body' && metadata.metatype !== Object) {
      const rule = 'the body must be an object, got null';
      throw new ProblemError('INVALID_REQUEST', rule, [{ field: '', value: null, rule }]);
    }
    return super.transform(value, metadata) as Promise<unknown>;
  }
}

/** Checks every query, path and body against its class, and refuses parameters that the class does not have. */
export function createValidationPipe(): ValidationPipe {
  return new BodyCheckingPipe({
    validatorPackage: validation,
    transformerPackage: validation,
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    exceptionFactory: (errors) => {
      const violations = describeViolations(errors);
      return new ProblemError('INVALID_REQUEST', violations.map(({ rule }) => rule).join('; '), violations);
    },
  });
}
