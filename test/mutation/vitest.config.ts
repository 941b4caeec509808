import { defineConfig } from 'vitest/config';
import suite from '../../vitest.config.ts';

/** The public suites that are fast enough to run for each change. Those of push see every line of it, and no other. */
const others = {
  include: [
    'test/unit/**/*.test.ts',
    'test/client/**/*.test.ts',
    'test/reliability/faults/**/*.test.ts',
    // How many requests a keyset list takes.
    'test/reliability/histories/keyset/{keyset,request-counts}.test.ts',
  ],
  // Tests of other areas, and tests that run for seconds.
  exclude: ['test/{unit,client}/**/rate-limiter*/**', 'test/client/{push,telemetry}/**'],
};

export default defineConfig({
  resolve: suite.resolve ?? {},
  test: {
    ...(process.env.MUTATION_FOLDER === 'push' ? { include: ['test/client/push/*.test.ts'] } : others),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
  },
});
