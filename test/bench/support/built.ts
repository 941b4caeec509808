import type * as Face from '../../../src/index.ts';

/** The package as it is built, with the types of its source. */
export const { createClient } = (await import(
  new URL('../dist/index.js', import.meta.url).href
)) as typeof Face;
