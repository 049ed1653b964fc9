import { Module } from '@nestjs/common';
import { UpdateQuestionsModule } from '../update-questions/update-questions.module.js';
import { WhatIfCheck } from './what-if-check.js';
import { WhatIfsController } from './what-ifs.controller.js';
import { WhatIfsService } from './what-ifs.service.js';

@Module({
  imports: [UpdateQuestionsModule],
  controllers: [WhatIfsController],
  providers: [WhatIfsService, WhatIfCheck],
})
export class WhatIfsModule {}
