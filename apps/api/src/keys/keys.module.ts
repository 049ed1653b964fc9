import { Logger, Module } from '@nestjs/common';
import { KeyRing } from '@retrace/process';
import { ApiConfig } from '../config/api-config.js';
import { ProblemError } from '../problems/problem.js';
import { AccessControl } from './access-control.js';
import { SessionController } from './session.controller.js';
import { SessionFiles } from './session-files.js';
import { SessionService } from './session.service.js';

function openKeyRing({ keyDirectory, agentsKey }: ApiConfig): KeyRing {
  const logger = new Logger('keys');
  return new KeyRing({
    directory: keyDirectory,
    ownKey: agentsKey,
    toError: (reason) => {
      logger.error(`the API keys can't be read: ${reason}`);
      return new ProblemError(
        'KEYS_UNAVAILABLE',
        "The API keys can't be read; the server's log has the reason",
      );
    },
    onWarning: (line) => {
      logger.warn(line);
    },
  });
}

@Module({
  controllers: [SessionController],
  providers: [
    { provide: KeyRing, useFactory: openKeyRing, inject: [ApiConfig] },
    SessionFiles,
    AccessControl,
    SessionService,
  ],
  exports: [AccessControl],
})
export class KeysModule {}
