import type { CollectionName } from '../../collections/index.ts';
import { labelOf } from '../data/records.ts';
import { judgeCopy } from './judge-copy.ts';
import type { Half } from './play.ts';
import type { ConnectorRun } from './run-connector.ts';
import { type Copy, columnOf, copyOf } from './same-value.ts';
import type { Stage } from './stage.ts';
import type { Fields } from './timeline.ts';

type Records = (collection: CollectionName) => unknown;

/** The half of a connector that reads. Throws a TypeError if its copy is not empty. */
export async function readingHalf(
  stage: Stage,
  run: (run: ConnectorRun) => unknown,
  records: Records,
): Promise<Half> {
  let hasEndedWell = false;
  const readCopies = async () => {
    const copies = new Map<CollectionName, Copy>();
    for (const name of stage.collections) copies.set(name, await readCopy(name, records, hasEndedWell));
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
        const heldBefore = complete.includes(collection) ? undefined : before.get(collection);
        const mayKeepDeleted = night.deletions !== true;
        const evidence = { timeline: stage.timeline(collection), copy, mayKeepDeleted, heldBefore };
        return judgeCopy(collection, stage.store(collection).count, evidence);
      });
    },
  };
}

/** What `records` returns. Until a run has ended well, the copy may lack its tables. */
async function readCopy(collection: CollectionName, records: Records, mustExist: boolean): Promise<Copy> {
  let given: unknown;
  try {
    given = await records(collection);
  } catch (error) {
    if (!mustExist) return new Map();
    const what = error instanceof Error ? error.message : String(error);
    throw new Error(`records('${collection}') failed: ${what}`, { cause: error });
  }
  const label = labelOf(collection);
  const copy = copyOf(Array.isArray(given) ? (given as readonly Fields[]) : []);
  const rows = [...copy.values()].flat();
  // Without it, stale records would go unnoticed. A single row may lack it: some services leave out what is null.
  const hasLabels = rows.length === 0 || rows.some((row) => row[columnOf(label)] !== undefined);
  if (Array.isArray(given) && hasLabels && rows.every(({ id }) => id !== undefined)) return copy;
  const missing = Array.isArray(given) ? `: ${hasLabels ? 'id' : label} is missing` : '';
  throw new TypeError(
    `records('${collection}') must return an array of records with the fields of the service, at least id and ${label}${missing}.`,
  );
}
