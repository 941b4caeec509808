import type { CollectionName } from '../../collections/index.ts';
import { explain, judge } from './judge-copy.ts';
import type { Half } from './play.ts';
import type { ConnectorRun } from './run-connector.ts';
import { type Copy, copyOf } from './same-value.ts';
import type { Stage } from './stage.ts';
import type { Fields } from './timeline.ts';

/** The half of a connector that reads. Throws a TypeError if its copy is not empty. */
export async function readingHalf(
  stage: Stage,
  run: (run: ConnectorRun) => unknown,
  records: (collection: CollectionName) => unknown,
): Promise<Half> {
  let hasEndedWell = false;
  const readCopies = async () => {
    const copies = new Map<CollectionName, Copy>();
    for (const name of stage.collections)
      copies.set(name, await copyOfCollection(name, records, hasEndedWell));
    return copies;
  };
  let held = await readCopies();
  if ([...held.values()].some(({ size }) => size > 0))
    throw new TypeError(
      'The copy is not empty before the case. The option reset has to empty it, and the state of the connector.',
    );
  return {
    rows: [],
    run,
    async judge(night, endings) {
      const endedWell = endings.every(({ how }) => how === 'well');
      hasEndedWell ||= endedWell;
      const before = held;
      held = await readCopies();
      const complete = endedWell ? stage.collections : (night.completeAnyway?.(stage) ?? []);
      return [...held].flatMap(([collection, copy]) => {
        const evidence = {
          timeline: stage.timeline(collection),
          copy,
          mayKeepDeleted: night.deletions !== true,
          heldBefore: complete.includes(collection) ? undefined : before.get(collection),
        };
        const total = stage.store(collection).count;
        return judge(evidence).map((finding) => explain(finding, { ...evidence, collection, total }));
      });
    },
  };
}

/** What `records` returns. Until a run has ended well, the copy may lack its tables. */
async function copyOfCollection(
  collection: CollectionName,
  records: (collection: CollectionName) => unknown,
  mustExist: boolean,
): Promise<Copy> {
  let given: unknown;
  try {
    given = await records(collection);
  } catch (error) {
    if (!mustExist) return new Map();
    const what = error instanceof Error ? error.message : String(error);
    throw new Error(`records('${collection}') failed: ${what}`, { cause: error });
  }
  const copy = copyOf(Array.isArray(given) ? (given as readonly Fields[]) : []);
  const rows = [...copy.values()].flat();
  // Without names, stale records would go unnoticed. A single row may lack its name: some services leave out what is null.
  const hasNames = rows.length === 0 || rows.some(({ name }) => name !== undefined);
  if (Array.isArray(given) && hasNames && rows.every(({ id }) => id !== undefined)) return copy;
  const missing = Array.isArray(given) ? `: ${hasNames ? 'id' : 'name'} is missing` : '';
  throw new TypeError(
    `records('${collection}') must return an array of records with the fields of the service, at least id and name${missing}.`,
  );
}
