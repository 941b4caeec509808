import { defineConfig } from 'vitest/config';
import suite from '../../../vitest.config.ts';

/** The public suites that are fast enough to run for each change. */
export default defineConfig({
  resolve: suite.resolve ?? {},
  test: {
    include: [
      'test/unit/**/*.test.ts',
      'test/client/**/*.test.ts',
      'test/reliability/faults/**/*.test.ts',
      // How many requests a keyset list takes.
      'test/reliability/simulation/{keyset,request-counts}.test.ts',
    ],
    // Tests of other areas, and tests that run for seconds.
    exclude: [
      'test/{unit,client}/**/rate-limiter*/**',
      'test/client/{push,telemetry}/**',
      'test/client/sync/cost.test.ts',
    ],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
  },
});
