import { registerHooks } from 'node:module';
import tsconfig from '../../tsconfig.json' with { type: 'json' };

/** `node --import` of this file resolves the entries of the package to `src`, so that a program needs no build. */
const { paths } = tsconfig.compilerOptions;

registerHooks({
  resolve(specifier, context, next) {
    const [path] = paths[specifier] ?? [];
    if (path === undefined) return next(specifier, context);
    return next(new URL(`../../${path}`, import.meta.url).href, context);
  },
});
