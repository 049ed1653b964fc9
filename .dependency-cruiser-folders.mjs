/**
 * No two folders of a package import each other, directly or through others: a second part of `npm run layers`. A folder and those inside it count as one
 * concern, and specs may import whatever they test.
 */
import { SPEC, options } from './.dependency-cruiser.mjs';

export default {
  forbidden: [
    {
      name: 'no-circle-of-folders',
      comment: 'What both need goes to a folder below both, or the two are one concern.',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    ...options,
    includeOnly: '^(apps|libs|clients)/[^/]+/src/',
    exclude: { path: `((^|/)dist/|\\.spec\\.tsx$|\\.fixture\\.ts$|${SPEC})` },
  },
};
