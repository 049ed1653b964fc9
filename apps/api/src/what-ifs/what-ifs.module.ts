import { Module } from '@nestjs/common';
import { WhatIfCheck } from './what-if-check.js';
import { WhatIfsController } from './what-ifs.controller.js';
import { WhatIfsService } from './what-ifs.service.js';

@Module({ controllers: [WhatIfsController], providers: [WhatIfsService, WhatIfCheck] })
export class WhatIfsModule {}
