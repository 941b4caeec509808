import type * as Face from '../../../src/index.ts';
import type * as Targets from '../../../src/targets/index.ts';

/** The package as it is built, with the types of its source. */
export const { createClient, push, sync } = (await import(
  new URL('../dist/index.js', import.meta.url).href
)) as typeof Face;

export const { sqliteTarget } = (await import(
  new URL('../dist/targets.js', import.meta.url).href
)) as typeof Targets;
