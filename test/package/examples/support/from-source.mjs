import { registerHooks } from 'node:module';

/** Lets an example that runs in a process of its own use the package as it stands in `src`, without a build. */
const source = {
  'accounting-data-sdk': '../../../../src/index.ts',
  'accounting-data-sdk/schemas': '../../../../src/schemas/index.ts',
  'accounting-data-sdk/testing': '../../../../src/testing/index.ts',
  'accounting-data-sdk/tools': '../../../../src/tools/index.ts',
};

registerHooks({
  resolve(specifier, context, next) {
    const path = source[specifier];
    return path === undefined ? next(specifier, context) : next(new URL(path, import.meta.url).href, context);
  },
});
