import { readFileSync } from 'node:fs';

const specification = readFileSync(new URL('./specification.md', import.meta.url), 'utf8');

/** The text below a heading, up to the next heading. */
function section(heading: string): string {
  const [, text] = specification.split(new RegExp(`^#+ ${heading}$`, 'm'));
  if (text === undefined) throw new Error(`The specification has no section ${heading}.`);
  return text.split(/^#/m, 1)[0] ?? '';
}

/** A row of the table of the fields of a resource. */
export interface Field {
  readonly name: string;
  readonly type: 'string' | 'array' | 'boolean' | 'integer' | 'number' | 'money';
  readonly responseOnly: boolean;
}

/** The table of the fields of a resource; empty if the specification has none. */
function fieldsOf(resource: string): readonly Field[] {
  if (!specification.includes(`\n### ${resource}\n`)) return [];
  return section(resource)
    .split('\n')
    .filter((line) => /^\|.*[a-z]/.test(line))
    .slice(1)
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, name = '', type = '']) => ({
      name,
      // `string, money (decimal string)` is money.
      type: (/^\w+(?:, (\w+))?/.exec(type)?.[1] ?? /^\w*/.exec(type)?.[0]) as Field['type'],
      responseOnly: type.includes('response only'),
    }));
}

/** The table of product fields. */
export const productFields = fieldsOf('Product');

/** The path segments of the read-only collections. */
export const readOnlySegments: readonly string[] = section('Read-only resource endpoints')
  .split('\n')
  .filter((line) => line.includes('Segments: '))
  .flatMap((line) => [...line.matchAll(/`([a-z-]+)`/g)].map(([, segment = '']) => segment));

export const allSegments: readonly string[] = [...readOnlySegments, 'products'];

/** The documented fields of each resource, by its path segment. */
export const documentedFields: Readonly<Record<string, readonly Field[]>> = Object.fromEntries(
  allSegments.map((segment) => [segment, fieldsOf(resourceOf(segment))]),
);

/** `BomLine` of `bom-lines`. */
function resourceOf(segment: string): string {
  const singular = segment.replace(/ies$/, 'y').replace(/(ss)es$|s$/, '$1');
  return singular.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
