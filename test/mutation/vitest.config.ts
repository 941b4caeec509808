import { defineConfig } from 'vitest/config';
import suite from '../../vitest.config.ts';

/** The public suites that are fast enough to run for each change. */
export default defineConfig({
  resolve: suite.resolve ?? {},
  test: {
    include: ['test/{unit,client}/**/*.test.ts', 'test/reliability/faults/**/*.test.ts'],
    // Tests of other areas, and tests that run for seconds.
    exclude: ['test/client/{rate-limiter,telemetry}/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
  },
});
