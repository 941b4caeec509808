import type { CollectionName } from '../../collections/index.ts';
import { explain, judge } from './judge-copy.ts';
import type { Half } from './play.ts';
import type { ConnectorRun } from './run-connector.ts';
import { copiedValue } from './same-value.ts';
import type { Stage } from './stage.ts';
import type { Fields } from './timeline.ts';

type Copies = ReadonlyMap<CollectionName, readonly Fields[]>;

/** The half of a connector that reads. Throws a TypeError if its copy is not empty. */
export async function readingHalf(
  stage: Stage,
  run: (run: ConnectorRun) => unknown,
  records: (collection: CollectionName) => unknown,
): Promise<Half> {
  let hasEndedWell = false;
  const readCopies = async (): Promise<Copies> => {
    const copies = new Map<CollectionName, readonly Fields[]>();
    for (const name of stage.collections) {
      // Until a run has ended well, the copy may lack its tables.
      const read = async () => await records(name);
      copies.set(name, copyOf(name, await (hasEndedWell ? read() : read().catch(() => []))));
    }
    return copies;
  };
  let held = await readCopies();
  if ([...held.values()].some(({ length }) => length > 0))
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
      // A run that was resumed began before its last start: only the next night shows what it has missed.
      const isComplete = endedWell && night.runs !== 'killed' && night.runs !== 'twice at once';
      const completeAnyway = night.completeAnyway?.(stage) ?? [];
      return [...held].flatMap(([collection, copy]) => {
        const heldBefore = new Set(before.get(collection)?.map(idOf));
        const evidence = {
          timeline: stage.timeline(collection),
          copy,
          mayKeepDeleted: night.deletions !== true,
          ...(!isComplete && !completeAnyway.includes(collection) && { heldBefore }),
        };
        const total = stage.store(collection).count;
        return judge(evidence).map((finding) => explain(finding, { ...evidence, collection, total }));
      });
    },
  };
}

function idOf(record: Fields): string {
  return String(copiedValue(record, 'id'));
}

/** What `records` returned. Throws a TypeError if stale records could not be seen in it. */
function copyOf(collection: CollectionName, given: unknown): readonly Fields[] {
  const copy = Array.isArray(given) ? (given as readonly Fields[]) : undefined;
  const lacks = ['id', 'name'].find((field) =>
    copy?.some((record) => copiedValue(record, field) === undefined),
  );
  if (copy !== undefined && lacks === undefined) return copy;
  const missing = lacks === undefined ? '' : `, at least id and name: ${lacks} is missing`;
  throw new TypeError(
    `records('${collection}') must return an array of records with the fields of the service${missing}.`,
  );
}
