import { Module } from '@nestjs/common';
import { AccessControl } from './access-control.js';
import { KeyRing } from './key-ring.js';
import { SessionController } from './session.controller.js';
import { SessionFiles } from './session-files.js';
import { SessionService } from './session.service.js';

@Module({
  controllers: [SessionController],
  providers: [KeyRing, SessionFiles, AccessControl, SessionService],
  exports: [AccessControl],
})
export class KeysModule {}
