import { documentedFields } from '../collections/index.ts';
import { MAX_COLUMNS } from './contents.ts';

/** The statements of a target, for the tables of one schema. Its name is in lower case and needs no quotes inside. */
export function statementsFor(schema: string) {
  const record = `"${schema}".record`;
  const checkpoint = `"${schema}".checkpoint`;
  const field = `"${schema}".field`;
  // One lock for all changes of the schema: two processes may begin at the same time.
  const lock = `PERFORM pg_advisory_xact_lock(hashtextextended('accounting-data-sdk ${schema}', 0));`;

  return {
    /** Creates the tables. Not even CREATE … IF NOT EXISTS may be run by a role that may only write rows. */
    setUp: `
DO $accounting$
BEGIN
  IF to_regclass('"${schema}".record') IS NULL OR to_regclass('"${schema}".checkpoint') IS NULL
    OR to_regclass('"${schema}".field') IS NULL THEN
    ${lock}
    IF to_regnamespace('"${schema}"') IS NULL THEN CREATE SCHEMA "${schema}"; END IF;
    CREATE TABLE IF NOT EXISTS ${record} (
      tenant text COLLATE "C" NOT NULL, collection text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
      body jsonb NOT NULL, PRIMARY KEY (collection, tenant, id));
    CREATE TABLE IF NOT EXISTS ${checkpoint} (key text COLLATE "C" PRIMARY KEY, value text NOT NULL);
    CREATE TABLE IF NOT EXISTS ${field} (
      collection text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, position integer NOT NULL,
      PRIMARY KEY (collection, name));
  END IF;
END
$accounting$`,

    /** Fails if a table has another shape. */
    shape: `
SELECT tenant::text, collection::text, id::text, body::jsonb, key::text, value::text, name::text, position::int
FROM (SELECT tenant, collection, id, body FROM ${record} LIMIT 0) AS r,
  (SELECT key, value FROM ${checkpoint} LIMIT 0) AS c, (SELECT name, position FROM ${field} LIMIT 0) AS f`,

    /** The fields that have columns, and the collections that have a view. */
    fields: `
SELECT collection, name, NULL AS view FROM ${field}
UNION ALL SELECT NULL, NULL, relname FROM pg_class
WHERE relnamespace = to_regnamespace('"${schema}"') AND relkind = 'v'`,

    checkpoint: `SELECT value FROM ${checkpoint} WHERE key = $1::text`,

    /**
     * Writes the records of a batch and its checkpoint, unless the checkpoint is not the one that this run knows. A batch
     * can hold an id twice: the last row counts.
     */
    write: `
WITH moved AS (
  INSERT INTO ${checkpoint} AS c (key, value) VALUES ($4::text, $5::text)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE c.value = $6::text
  RETURNING key
), latest AS (
  SELECT DISTINCT ON (body ->> 'id') body ->> 'id' AS id, body
  FROM jsonb_array_elements($3::text::jsonb) WITH ORDINALITY AS batch (body, position)
  ORDER BY body ->> 'id', position DESC
), written AS (
  INSERT INTO ${record} AS r (tenant, collection, id, body)
  SELECT $1::text, $2::text, id, body FROM latest WHERE EXISTS (SELECT FROM moved)
  ON CONFLICT (collection, tenant, id) DO UPDATE SET body = excluded.body WHERE r.body <> excluded.body
)
SELECT count(*)::int AS moved FROM moved`,

    ids: `
SELECT id FROM ${record} WHERE tenant = $1::text AND collection = $2::text AND id > $3::text ORDER BY id LIMIT 10000`,

    remove: `
DELETE FROM ${record} WHERE tenant = $1::text AND collection = $2::text
AND id IN (SELECT jsonb_array_elements_text($3::text::jsonb))`,

    /** Remembers new fields of a collection and gives its view a column for each. */
    updateView: (view: ViewChange) => `
DO $accounting$
DECLARE
  change CONSTANT jsonb := ${jsonExpression({ ...view, kinds: documentedFields(view.collection) })};
  found RECORD;
  taken text[] := ARRAY['tenant', 'id'];
  base text;
  name_of_column text;
  number integer;
  columns text := 'tenant, id';
  expression text;
  definition text;
BEGIN
  ${lock}
  INSERT INTO ${field} (collection, name, position)
  SELECT change ->> 'collection', added.name,
    added.position + (SELECT coalesce(max(f.position), 0) FROM ${field} AS f WHERE f.collection = change ->> 'collection')
  FROM jsonb_array_elements_text(change -> 'fields') WITH ORDINALITY AS added (name, position)
  ON CONFLICT DO NOTHING;

  IF EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('"${schema}"')
    AND relname = change ->> 'view' AND relkind <> 'v') THEN
    RAISE EXCEPTION '${schema}.% is not a view: rename it', change ->> 'view' USING ERRCODE = 'wrong_object_type';
  END IF;

  FOR found IN SELECT f.name FROM ${field} AS f WHERE f.collection = change ->> 'collection'
    ORDER BY f.position LIMIT ${MAX_COLUMNS} LOOP
    -- PostgreSQL would cut a longer name at 63 bytes, and two could become one.
    base := found.name;
    WHILE octet_length(base) > 58 LOOP base := left(base, -1); END LOOP;
    IF base = '' THEN base := '_'; END IF;
    name_of_column := base;
    number := 2;
    WHILE lower(name_of_column COLLATE "C") = ANY (taken) LOOP
      name_of_column := base || '_' || number;
      number := number + 1;
    END LOOP;
    taken := taken || lower(name_of_column COLLATE "C");
    expression := CASE change -> 'kinds' ->> found.name
      WHEN 'money' THEN 'CASE WHEN jsonb_typeof(body -> %1$L) = ''string''
        AND body ->> %1$L ~ ''^-?[0-9]{1,18}([.][0-9]{1,8})?$'' THEN (body ->> %1$L)::numeric END'
      WHEN 'boolean' THEN 'CASE jsonb_typeof(body -> %1$L) WHEN ''boolean'' THEN (body ->> %1$L)::boolean END'
      WHEN 'integer' THEN 'CASE WHEN jsonb_typeof(body -> %1$L) = ''number''
        AND body ->> %1$L ~ ''^-?[0-9]{1,18}$'' THEN (body ->> %1$L)::bigint END'
      WHEN 'number' THEN 'CASE jsonb_typeof(body -> %1$L) WHEN ''number'' THEN (body ->> %1$L)::numeric END'
      WHEN 'array' THEN 'CASE jsonb_typeof(body -> %1$L) WHEN ''array'' THEN body -> %1$L END'
      ELSE 'body ->> %1$L'
    END;
    columns := columns || format(', ' || expression || ' AS %2$I', found.name, name_of_column);
  END LOOP;

  definition := format('VIEW "${schema}".%I AS SELECT %s FROM ${record} WHERE collection = %L',
    change ->> 'view', columns, change ->> 'collection');
  BEGIN
    -- Keeps the rights on the view, and views that the user made of it.
    EXECUTE 'CREATE OR REPLACE ' || definition;
  EXCEPTION WHEN invalid_table_definition THEN
    EXECUTE format('DROP VIEW "${schema}".%I', change ->> 'view');
    EXECUTE 'CREATE ' || definition;
  END;
END
$accounting$`,
  };
}

export interface ViewChange {
  readonly collection: string;
  readonly view: string;
  /** New fields, in the order of their columns. */
  readonly fields: readonly string[];
}

/**
 * A value as an expression of type jsonb. A DO block has no parameters, so what the service sent is written in Base64,
 * of which no character can end a literal, or the block.
 */
function jsonExpression(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return `convert_from(decode('${btoa(binary)}', 'base64'), 'UTF8')::jsonb`;
}
