import { defineConfig } from 'vitest/config';
import suite from '../../../vitest.config.ts';
import { folders } from './folders.ts';

const tests = folders[process.env.MUTATION_FOLDER ?? ''] ?? Object.values(folders).flat();

export default defineConfig({
  resolve: suite.resolve ?? {},
  test: {
    include: tests.map((test) => (test.endsWith('.ts') ? test : `${test}/**/*.test.ts`)),
    // They look at memory, cost and goodput over a long way: no place to look for one changed line.
    exclude: ['test/unit/sync/{memory,cost}.test.ts', 'test/unit/rate-limiter/goals.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
  },
});
