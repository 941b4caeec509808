import { defineConfig } from 'vitest/config';

// Without aliases: the package is found by its name, as it is in a project that has installed it.
export default defineConfig({ test: { include: ['*.test.ts'] } });
