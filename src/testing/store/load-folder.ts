import { type CollectionName, collectionNames, collections } from '../../collections/index.ts';
import { FileProblem, Ndjson } from '../../files/ndjson.ts';
import type { Fields } from '../fixtures.ts';
import { nodeFs } from '../node-modules.ts';
import { idIn } from './collection.ts';
import type { Company } from './company.ts';

/**
 * Stores the records in a folder that `pull --all --out` wrote: `accounts.ndjson`, `account-addresses.ndjson` and so on.
 * They are stored as they are, because a service may send invalid records. Throws a RangeError for a folder without such a
 * file, a file that cannot be read, and the id of another record.
 */
export function loadFolder(company: Company, folder: string): void {
  for (const [name, records] of readFolder(folder)) {
    const collection = company[name];
    const loaded = new Set<string>();
    const isWithout = (record: Fields) => Number(idIn(record) === undefined);
    // Those without an id last, because the next id may be that of a record in the file.
    for (const record of records.toSorted((a, b) => isWithout(a) - isWithout(b))) {
      const id = idIn(record) ?? '';
      // A pull by page can write a record twice: the last one counts.
      if (!loaded.has(id) && collection.latest(id) !== undefined) {
        throw new RangeError(`${collection.segment}: ${id} already exists.`);
      }
      loaded.add(collection.insert(record, 0).id);
    }
  }
}

function readFolder(folder: string): (readonly [CollectionName, readonly Fields[]])[] {
  const { existsSync } = nodeFs();
  const paths = collectionNames.map(
    (name) => [name, `${folder}/${collections[name].segment}.ndjson`] as const,
  );
  const found = paths.filter(([, path]) => existsSync(path));
  if (found.length === 0) {
    throw new RangeError(`fixtures: ${folder} has no file of a collection, such as accounts.ndjson.`);
  }
  return found.map(([name, path]) => [name, recordsIn(path)]);
}

function recordsIn(path: string): readonly Fields[] {
  const lines = new Ndjson();
  try {
    return [...lines.read(nodeFs().readFileSync(path)), ...lines.read()].map(({ line, row, lossy }) => {
      if (lossy === undefined) return row;
      throw new FileProblem(`line ${line} has ${lossy}, which has more digits than a JSON number keeps.`);
    });
  } catch (error) {
    throw new RangeError(`fixtures: ${path} cannot be loaded: ${(error as Error).message}`);
  }
}
