import type { Kind, Shape, Shapes } from 'accounting-data-sdk/tools';
import type { JsonSchema } from './emitter.ts';

/** Amounts are decimal strings and stay so: as a JSON number they would lose digits. */
const SCALARS: Readonly<Record<Exclude<Kind, 'array' | 'object'>, JsonSchema>> = {
  boolean: { type: 'boolean' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  money: { type: 'string' },
  string: { type: 'string' },
  date: { type: 'string', format: 'date' },
  timestamp: { type: 'string', format: 'date-time', airbyte_type: 'timestamp_with_timezone' },
};

/** The schema of a collection by what was seen of its fields. Everything but the id may be null or missing. */
export function recordSchema(fields: Shapes): JsonSchema {
  const properties = { ...propertiesOf(fields), id: { type: 'string' } };
  return { type: 'object', required: ['id'], additionalProperties: true, properties };
}

function propertiesOf(fields: Shapes): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(fields).map(([name, shape]) => [name, valueSchema(shape)]));
}

function valueSchema(shape: Shape): JsonSchema {
  const [first, ...others] = shape.kinds.map((kind) => kindSchema(kind, shape));
  // Nothing but null was seen: it may become anything.
  if (first === undefined) return {};
  if (others.length > 0) return { oneOf: [{ type: 'null' }, first, ...others] };
  return { ...first, type: ['null', first.type] };
}

function kindSchema(kind: Kind, { items, fields }: Shape): JsonSchema {
  if (kind === 'array') return { type: 'array', items: items === undefined ? {} : valueSchema(items) };
  if (kind === 'object') {
    return { type: 'object', additionalProperties: true, properties: propertiesOf(fields ?? {}) };
  }
  return SCALARS[kind];
}
