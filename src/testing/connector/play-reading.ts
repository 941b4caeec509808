import type { CollectionName } from '../../collections/index.ts';
import type { SandboxOptions } from '../options.ts';
import type { Night, ReadingCase } from './case.ts';
import { describe, judge } from './judgement.ts';
import type { Ending } from './run-connector.ts';
import { type Connector, endingProblems, runNight } from './run-night.ts';
import { copiedValue } from './same-value.ts';
import type { Stage } from './stage.ts';
import type { Fields } from './timeline.ts';

/** What a case of reading needs of the user's connector. */
export interface ReadingConnector extends Connector {
  readonly records: (collection: CollectionName) => unknown;
}

/** Records of each collection, unless a case has other ones. */
const RECORDS = 45;
/** How the service behaves in every case. A page is small, so that a few records make several. */
const BASE: SandboxOptions = { pageSize: 10, timestampsEverywhere: true };
/** The options of the sandbox of a case. */
export function serviceOf(
  { service, records = RECORDS }: Pick<ReadingCase, 'service' | 'records'>,
  {
    given,
    collections,
    seed,
  }: { given: SandboxOptions; collections: readonly CollectionName[]; seed: number },
): SandboxOptions {
  const counts = Object.fromEntries(collections.map((name) => [name, records]));
  return { ...BASE, records: counts, ...given, ...service, seed };
}

/** Plays the nights of a case, and returns what is wrong after the first one that goes wrong, as sentences. */
export async function playReading(
  { prepare, nights }: ReadingCase,
  stage: Stage,
  connector: ReadingConnector,
): Promise<readonly string[]> {
  prepare?.(stage);
  let held = await copyOf(stage, connector, { mayLackTables: true });
  if (!isEmpty(held)) {
    return ['The copy is not empty before the case: empty it and the state of the connector in reset.'];
  }
  for (const night of nights) {
    const since = stage.beginNight(() => night.before?.(stage));
    stage.onList = (request) => night.during?.(stage, request);
    const rules = (night.faults?.(stage) ?? []).map(([fault, match]) =>
      stage.sandbox.faults.add(fault, match),
    );
    const heldBefore = held;
    const compare = async (endings: readonly Ending[]) => {
      const mayLackTables = isEmpty(heldBefore) && endings.some(({ how }) => how !== 'well');
      held = await copyOf(stage, connector, { mayLackTables });
      return copyProblems(stage, held, { night, since, heldBefore, endings });
    };
    const destroyed: string[] = [];
    const endings = await runNight(stage, connector, night, async () => {
      if (destroyed.length === 0) destroyed.push(...(await compare([{ how: 'killed' }])));
    });
    stage.onList = () => {};
    for (const rule of rules) rule.remove();
    const limit = tooMany429s(stage, night);
    const problems = [...endings.flatMap((ending) => endingProblems(ending, night)), ...limit, ...destroyed];
    if (problems.length === 0) problems.push(...(await compare(endings)));
    if (problems.length > 0) return problems;
  }
  return [];
}

function tooMany429s({ sandbox }: Stage, { most429s }: Night): string[] {
  const count = sandbox.count(({ status }) => status === 429);
  if (most429s === undefined || count <= most429s) return [];
  return [
    `The connector got ${count} responses with status 429. ${most429s} are enough to notice the limit.`,
  ];
}

/** Compares the copy with the service, collection by collection. */
function copyProblems(
  stage: Stage,
  copies: Copies,
  run: {
    night: Night;
    since: number;
    heldBefore: Copies;
    endings: readonly Ending[];
  },
): string[] {
  const { night, since, heldBefore, endings } = run;
  // A function of the id, in the one case that has it.
  const { hiddenRecords: hidden } = stage.options;
  return [...copies].flatMap(([collection, copy]) => {
    const versions = stage.timelines.get(collection)?.versions ?? new Map();
    // A run that was resumed began before its last start: only the next night shows what it has missed.
    const isComplete =
      (night.runs !== 'killed' &&
        night.runs !== 'twice at once' &&
        endings.every(({ how }) => how === 'well')) ||
      night.completeAnyway?.(stage).includes(collection) === true;
    const findings = judge({
      collection,
      versions,
      since,
      copy,
      responses: stage.responses.get(collection) ?? [],
      deletions: night.deletions === true,
      ...(typeof hidden === 'function' && {
        hidden: new Set([...versions.keys()].filter((id) => hidden({ id }))),
      }),
      ...(!isComplete && { heldBefore: idsOf(heldBefore.get(collection) ?? []) }),
    });
    const total = stage.store(collection).count;
    return findings.map((finding) => describe(finding, { collection, total }));
  });
}

function idsOf(copy: readonly Fields[]): ReadonlySet<string> {
  return new Set(copy.map((record) => String(copiedValue(record, 'id'))));
}

type Copies = ReadonlyMap<CollectionName, readonly Fields[]>;

function isEmpty(copies: Copies): boolean {
  return [...copies.values()].every((copy) => copy.length === 0);
}

/**
 * What the copy holds. Before the first run it may lack its tables: what `records` throws then means an empty copy.
 * Throws a TypeError if stale records could not be seen in the copy.
 */
async function copyOf(
  { collections }: Stage,
  { records }: ReadingConnector,
  { mayLackTables }: { mayLackTables: boolean },
): Promise<Copies> {
  const copies = new Map<CollectionName, readonly Fields[]>();
  const recordsOf = async (collection: CollectionName): Promise<unknown> => await records(collection);
  for (const collection of collections) {
    const given = await recordsOf(collection).catch((error: unknown) => {
      if (!mayLackTables) throw error;
      return [];
    });
    const copy = Array.isArray(given) ? (given as readonly Fields[]) : undefined;
    const lacks = ['id', 'name'].find((field) =>
      copy?.some((record) => copiedValue(record, field) === undefined),
    );
    if (copy === undefined || lacks !== undefined) {
      const missing = lacks === undefined ? '' : `, at least id and name: ${lacks} is missing`;
      throw new TypeError(
        `records('${collection}') must return an array of records with the fields of the service${missing}.`,
      );
    }
    copies.set(collection, copy);
  }
  return copies;
}
