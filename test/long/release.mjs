/**
 * The specs that a release needs and a landing does not (`test/README.md`): their outcome and their seconds.
 *
 *   npm run test:long -- release
 */
import { listReleaseSpecs } from '../../scripts/spec-kinds.mjs';
import { runLongSpecs } from '../support/run-long-spec.mjs';

runLongSpecs(
  listReleaseSpecs(),
  'What a release needs: breadth, repetition, other people’s programs',
  'release',
);
