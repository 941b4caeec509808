import { isRow } from '../list-body.ts';
import type { FieldShape, Kind, Shape, Shapes } from './shape.ts';

/** What an earlier run wrote down of a collection. */
export interface Remembered {
  readonly records: number;
  readonly fields: Shapes;
}

const KINDS: ReadonlySet<string> = new Set<Kind>([
  'array',
  'boolean',
  'date',
  'instant',
  'integer',
  'money',
  'number',
  'object',
  'text',
]);

/** The line in which a file of schemas keeps what was seen of a collection. */
export function rememberingLine(collection: string, { records, fields }: Remembered): string {
  return `// seen ${collection} ${records} ${onOneLine(JSON.stringify(encodeFields(fields)))}`;
}

/** JSON without the two characters that end a line for TypeScript, and so a comment, but not for JSON. */
function onOneLine(json: string): string {
  return json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** What a file of schemas remembers, by collection. Lines that cannot be read are as if they were not there. */
export function remembered(source: string): Map<string, Remembered> {
  const lines = source.matchAll(/^\s*\/\/ seen (\w+) (\d+) (\{.*\})\s*$/gm);
  const found = new Map<string, Remembered>();
  for (const [, collection = '', records = '0', json = ''] of lines) {
    const fields = decodeFields(parse(json));
    if (fields !== undefined) found.set(collection, { records: Number(records), fields });
  }
  return found;
}

/** Whether a text is a file of schemas that an earlier run wrote. */
export function isDiscovered(source: string): boolean {
  return remembered(source).size > 0;
}

/** Whether two files say the same of every field; how many records they saw is not compared. */
export function saySame(a: string, b: string): boolean {
  const said = (source: string) =>
    JSON.stringify([...remembered(source)].map(([name, { fields }]) => [name, encodeFields(fields)]));
  return said(a) === said(b);
}

/** `text|integer`, then `~` where null was seen and `?` where it is not always there; more where it has an inside. */
type Encoded = string | { is: string; of?: Encoded; has?: Record<string, Encoded> };

function encodeFields(fields: Shapes): Record<string, Encoded> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, encode(field, field.always)]),
  );
}

function encode({ kinds, nullable, items, fields }: Shape, always: boolean): Encoded {
  const is = `${kinds.join('|')}${nullable ? '~' : ''}${always ? '' : '?'}`;
  if (items === undefined && fields === undefined) return is;
  return {
    is,
    ...(items === undefined ? {} : { of: encode(items, true) }),
    ...(fields === undefined ? {} : { has: encodeFields(fields) }),
  };
}

function decodeFields(value: unknown): Shapes | undefined {
  if (!isRow(value)) return undefined;
  const fields = Object.entries(value).map(([name, encoded]) => [name, decode(encoded)] as const);
  return fields.every(([, field]) => field !== undefined)
    ? (Object.fromEntries(fields) as Shapes)
    : undefined;
}

function decode(encoded: unknown): FieldShape | undefined {
  const { is, of, has } = isRow(encoded) ? encoded : { is: encoded };
  const match = typeof is === 'string' ? /^([a-z|]*)(~?)(\??)$/.exec(is) : null;
  if (match === null) return undefined;

  const kinds = (match[1] ?? '').split('|').filter(Boolean);
  const items = of === undefined ? undefined : decode(of);
  const fields = has === undefined ? undefined : decodeFields(has);
  if (!kinds.every((kind) => KINDS.has(kind))) return undefined;
  return { kinds: kinds as Kind[], nullable: match[2] === '~', always: match[3] === '', items, fields };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
