// Changes the source and reports how many of the changes the tests detect: `npm run mutation -- --mutate
// 'src/errors/*.ts'` for some files, because a whole folder takes hours.

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: ['src/{errors,schemas,pagination,push,sync,transport}/**/*.ts'],
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // A mutant of what a module does while it is loaded needs a process of its own: half a minute instead of a second.
  ignoreStatic: true,
  concurrency: 2,
  // A busy machine is no proof that a mutant hangs.
  timeoutMS: 20_000,
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
  incremental: true,
  incrementalFile: '.generated/mutation/incremental.json',
  tempDirName: '.generated/mutation/work',
  warnings: { slow: false },
};
