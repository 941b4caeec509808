import type { CollectionName } from '../../collections/index.ts';
import { forComment } from './literal.ts';
import { rememberingLine } from './memory.ts';
import type { Observations } from './observation.ts';
import { namedSchemas, Printer, type PrintOptions } from './print.ts';
import { type Reference, singular } from './references.ts';
import type { Shapes } from './shape.ts';

/** A collection, as it is printed. */
export interface PrintedCollection {
  readonly collection: CollectionName;
  readonly shapes: Shapes;
  /** Records that the shapes rest on, this run's and those of earlier ones. */
  readonly records: number;
  /** What this run saw; undefined where the collection was not looked at. */
  readonly seen: Observations | undefined;
  readonly references: ReadonlyMap<string, Reference>;
  /** Why nothing was seen: `403 scope_required`, `no record`. */
  readonly absence: string | undefined;
}

const HEAD = `// Made by: npx accounting-data-sdk discover --out <this file>
// Run it again to see what has changed; --check fails where something has.`;

const LENIENT = `// Every field but id may be null or missing, whatever was seen: so that no record of tomorrow is refused.`;
const STRICT = `// Strict: a field that was on every record is required, and one that was never null must not be.`;

/** Whether a file was printed to ask for what was seen. */
export function isStrict(source: string): boolean {
  return source.includes(STRICT);
}

/** A file of schemas for `createClient({ schemas })`: Zod loose objects, which keep fields that they do not name. */
export function printSource(collections: readonly PrintedCollection[], { strict }: PrintOptions): string {
  const named = namedSchemas(
    collections.map(({ shapes }) => shapes),
    { strict },
  );
  const parts = [
    `${HEAD}\n${strict ? STRICT : LENIENT}\n\nimport * as z from 'zod';`,
    ...named,
    ...collections.map((one) => printCollection(one, { strict })),
    `/** For createClient({ schemas }). */
export const schemas = {
${collections.map(({ collection }) => `  ${collection},\n`).join('')}};`,
    `// What was seen, for the next run to compare with.
${collections.map(({ collection, records, shapes }) => rememberingLine(collection, { records, fields: shapes })).join('\n')}`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function printCollection(one: PrintedCollection, options: PrintOptions): string {
  const { collection, shapes, seen, references, absence } = one;
  const printer = new Printer(options, references);
  const withId: Shapes = { id: { kinds: ['text'], nullable: false, always: true }, ...shapes };
  const object = printer.object(withId, { path: [collection], seen });
  const type = singular(collection)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
  const note = absence ?? `seen on ${seen?.records ?? 0} records`;
  const main = `/** One of the ${collection}: ${forComment(note)}. */
export const ${collection} = ${object};
export type ${type} = z.infer<typeof ${collection}>;`;
  return [...printer.declarations, main].join('\n\n');
}
