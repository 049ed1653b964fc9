/**
 * Installs every supported version of TensorFlow beside the others where it is missing, opens it with Retrace's own ops, and runs the
 * suites of ops, generation and optimizer.
 *
 *   npm run test:long -- tensorflow-versions
 */
import { TENSORFLOW_VERSIONS } from '@retrace/compute';
import { testNativeOps } from '../support/native-ops-suites.mjs';

testNativeOps({
  title: 'The versions of TensorFlow that can be installed',
  settings: TENSORFLOW_VERSIONS.map((version) => ({
    name: `TensorFlow ${version}`,
    environment: { RETRACE_TENSORFLOW: version },
  })),
});
