import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * Writes how many tests passed, failed and were skipped, and how long each spec file took, into a file of the folder that
 * `RETRACE_SPEC_REPORTS` names: a `SpecReport` (`seconds.mjs`). The seconds of a file include loading it, where no file before it
 * in the same process had loaded its modules; its processor seconds (`spec-processor-time.mjs`) do too.
 */
export default class SpecSecondsReporter {
  /** @param {readonly import('vitest/node').TestModule[]} modules */
  onTestRunEnd(modules, unhandledErrors) {
    const folder = process.env.RETRACE_SPEC_REPORTS;
    if (!folder) return;
    const report = { passed: 0, failed: unhandledErrors.length, skipped: 0, specs: [] };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        // Left for a release, not skipped: nothing is missing here.
        if (state === 'skipped' && test.tags.includes('release')) continue;
        report[state === 'pending' ? 'failed' : state] += 1;
      }
      // A file that could not be loaded has no tests to count.
      if (module.errors().length > 0) report.failed += 1;
      const { collectDuration, setupDuration, duration } = module.diagnostic();
      report.specs.push({
        file: relative(process.cwd(), module.moduleId),
        project: module.project.name,
        seconds: (collectDuration + setupDuration + duration) / 1000,
        processorSeconds: module.meta().processorSeconds ?? null,
      });
    }
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(report));
  }
}
