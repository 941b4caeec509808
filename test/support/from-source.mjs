import { registerHooks } from 'node:module';

/** `node --import` of this file resolves the entries of the package to `src`, so that a program needs no build. */
const entries = {
  'accounting-data-sdk': '../../src/index.ts',
  'accounting-data-sdk/node': '../../src/node/index.ts',
  'accounting-data-sdk/opentelemetry': '../../src/opentelemetry/index.ts',
  'accounting-data-sdk/schemas': '../../src/schemas/index.ts',
  'accounting-data-sdk/testing': '../../src/testing/index.ts',
  'accounting-data-sdk/testing/msw': '../../src/testing/msw.ts',
  'accounting-data-sdk/explore': '../../src/explore/index.ts',
  'accounting-data-sdk/targets': '../../src/targets/index.ts',
};

registerHooks({
  resolve(specifier, context, next) {
    const path = entries[specifier];
    return path === undefined ? next(specifier, context) : next(new URL(path, import.meta.url).href, context);
  },
});
