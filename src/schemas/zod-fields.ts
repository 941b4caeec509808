import { type FieldKind, type FieldKindFacts, fieldKinds } from './field-kinds.ts';
import { isStandardSchema, type StandardSchema } from './standard-schema.ts';
import { isObject } from './validate.ts';

/** What is read of a Zod schema: from any copy of Zod 4, so that none is loaded. */
interface ZodDef {
  readonly type: string;
  readonly innerType?: unknown;
  /** Of a pipe: the schema of what it returns. */
  readonly out?: unknown;
  readonly checks?: readonly unknown[];
  /** Of a string or number, or of a check. */
  readonly format?: string;
  readonly pattern?: RegExp;
  /** Of a datetime: whether a time without a zone is valid. */
  readonly local?: boolean;
}

/** Of a string. Zod mini has no metadata. */
interface ZodString {
  readonly meta?: () => { readonly format?: unknown } | undefined;
}

/** The schema of each field of a caller's Zod object. */
export type OwnFieldSchemas = Readonly<Record<string, StandardSchema>>;

/** The fields that a Zod object names; undefined for another schema, which does not show them. */
export function zodFields(schema: StandardSchema): OwnFieldSchemas | undefined {
  const { shape } = schema as { readonly shape?: unknown };
  if (!isObject(shape)) return undefined;
  const fields = Object.entries(shape).filter(([, field]) => isStandardSchema(field));
  return Object.fromEntries(fields) as OwnFieldSchemas;
}

/** The kinds of strings that have a pattern, by its source: a schema may come from another copy of this package. */
const PATTERNS = Object.entries<FieldKindFacts>(fieldKinds).flatMap(([kind, { pattern }]) =>
  pattern === undefined ? [] : [[pattern.source, kind as FieldKind] as const],
);

/** The kinds of strings by the format of a JSON schema, which `discover` writes as metadata. */
const FORMATS = new Map<unknown, FieldKind>([
  ['money', 'money'],
  ['date-time', 'timestamp'],
]);

/** The kind of the values that a field's schema returns; undefined for one that is in no table. */
export function kindOfSchema(schema: unknown): FieldKind | undefined {
  const def = defOf(schema);
  if (def?.innerType !== undefined) return kindOfSchema(def.innerType);
  if (def?.out !== undefined) return kindOfSchema(def.out);
  const all = [def, ...(def?.checks ?? []).map(defOf)];
  const hasFormat = (name: string) => all.some((each) => each?.format?.includes(name));
  switch (def?.type) {
    case 'string':
      if (hasFormat('datetime')) return all.some((each) => each?.local) ? 'string' : 'timestamp';
      return (
        FORMATS.get((schema as ZodString).meta?.()?.format) ??
        PATTERNS.find(([source]) => all.some((each) => each?.pattern?.source === source))?.[1] ??
        'string'
      );
    case 'number':
      return hasFormat('int') ? 'integer' : 'number';
    case 'boolean':
    case 'array':
      return def.type;
    // As JSON.
    case 'date':
      return 'timestamp';
    default:
      return undefined;
  }
}

function defOf(schema: unknown): ZodDef | undefined {
  return (schema as { readonly _zod?: { readonly def?: ZodDef } } | null | undefined)?._zod?.def;
}
