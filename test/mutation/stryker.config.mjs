import { globSync, readFileSync } from 'node:fs';

// One folder of src at a time: see run.ts. Paths are those of the root, where it runs.
const folder = process.env.MUTATION_FOLDER ?? '*';
/** Changes one line in so many. A whole folder takes hours. */
const oneIn = Number(process.env.MUTATION_SAMPLE ?? 1);

function sampled() {
  let line = 0;
  return globSync(`src/${folder}/**/*.ts`)
    .sort()
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .map((_, index) => `${file}:${index + 1}-${index + 1}`)
        .filter(() => line++ % oneIn === 0),
    );
}

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: oneIn === 1 ? [`src/${folder}/**/*.ts`] : sampled(),
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // A mutant of what a module does while it is loaded needs a process of its own: half a minute instead of a second.
  ignoreStatic: process.env.MUTATION_STATIC !== 'true',
  concurrency: Number(process.env.MUTATION_CONCURRENCY ?? 2),
  // A busy machine is no proof that a mutant hangs.
  timeoutMS: 20_000,
  reporters: ['clear-text', 'progress-append-only', 'json'],
  clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
  jsonReporter: { fileName: `.generated/mutation/${folder}.json` },
  incremental: oneIn === 1,
  incrementalFile: `.generated/mutation/${folder}-incremental.json`,
  tempDirName: '.generated/mutation/work',
  warnings: { slow: false },
};
