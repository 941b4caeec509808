import { type CollectionName, collectionNames, collections } from '../../collections/index.ts';
import { nodeFs } from '../node-modules.ts';

/** The record type of a collection. */
export type RecordOf<Name extends CollectionName> = NonNullable<(typeof collections)[Name]['$record']>;

/** The fields of a record to store: the documented ones with their types, and any others. */
export type RecordInput<Rec> = { readonly [Field in keyof Rec]?: Rec[Field] | undefined } & Readonly<
  Record<string, unknown>
>;

/** Records by collection, as `load` takes them and as a JSON file may contain them. */
export type Fixtures = {
  readonly [Name in CollectionName]?: readonly RecordInput<RecordOf<Name>>[] | undefined;
};

/**
 * The records in a folder that `pull --all --out` wrote: `accounts.ndjson`, `account-addresses.ndjson` and so on, or
 * `.json` with an array. Throws a RangeError for a folder without such a file and for a file that cannot be read.
 */
export function readFixtures(folder: string): Fixtures {
  const { existsSync, readFileSync } = nodeFs();
  const found = collectionNames.flatMap((name) => {
    const paths = ['ndjson', 'json'].map((type) => `${folder}/${collections[name].segment}.${type}`);
    return paths.filter((path) => existsSync(path)).map((path) => [name, path] as const);
  });
  if (found.length === 0) {
    throw new RangeError(`fixtures: ${folder} has no file of a collection, such as accounts.ndjson.`);
  }
  return Object.fromEntries(found.map(([name, path]) => [name, recordsIn(path, readFileSync(path, 'utf8'))]));
}

function recordsIn(path: string, text: string): readonly Record<string, unknown>[] {
  if (path.endsWith('.json')) {
    const value = parsed(text, path);
    if (Array.isArray(value)) return value;
    throw new RangeError(`fixtures: ${path} is not an array of records.`);
  }
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    return [parsed(line, `line ${index + 1} of ${path}`) as Record<string, unknown>];
  });
}

/** Without the message of the parser, which quotes the data. */
function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RangeError(`fixtures: ${where} is not JSON.`);
  }
}
