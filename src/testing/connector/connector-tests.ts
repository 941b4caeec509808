import type { CollectionName } from '../../collections/index.ts';
import {
  type Check,
  group,
  type Named,
  type OptionInputs,
  option,
  optional,
  type ResolvedOptions,
  required,
} from '../../internal/options.ts';
import { Semaphore } from '../../internal/semaphore.ts';
import { suggestion } from '../../internal/suggestion.ts';
import { checkCollections, is, resolved } from '../checks.ts';
import { hashText } from '../data/seeded-random.ts';
import type { SandboxOptions } from '../options.ts';
import type { Case } from './case.ts';
import { type Half, LEAK, play, type Verdict } from './play.ts';
import { readingHalf } from './read.ts';
import { readingCases } from './reading-cases.ts';
import type { ConnectorRun } from './run-connector.ts';
import { Stage } from './stage.ts';
import { type WritingRun, writingHalf } from './write.ts';
import { writingCases } from './writing-cases.ts';

const writesOptions = {
  /**
   * Starts the connector once, as the option `run`. It has to bring `products` into the service, by `productNumber`: one
   * product for each, with its `name` and `salePrice`. Reject if a row failed.
   */
  run: required(is.callback<(run: WritingRun) => unknown>()),
};

/** The part of a connector that writes products. */
export interface ConnectorWrites extends OptionInputs<typeof writesOptions>, Named {}

const connectorTestsOptions = {
  /** The collections that the connector copies, by the names of the client's properties. */
  collections: optional(is.strings as Check<readonly CollectionName[]>),
  /**
   * Starts the connector once: called again and again, for the next night and after a kill. Returns a promise that
   * rejects if the run failed. At a kill `signal` aborts, and the service rejects every connection until the promise has
   * settled, which it has to do within 10 s.
   */
  run: optional(is.callback<(run: ConnectorRun) => unknown>()),
  /**
   * What the copy holds of a collection now: an array, or a promise of one. Each record has `id`, the text that the cases
   * change, which is `name` if records of the collection have one, and any other fields of the service, by their names or
   * as `sale_price`; fields that the copy does not have are not compared.
   */
  records: optional(is.callback<(collection: CollectionName) => unknown>()),
  /** The part of the connector that writes products. */
  writes: optional(group(writesOptions)),
  /** Empties the copy and the state of the connector. Called before each case. */
  reset: optional(is.callback<() => unknown>()),
  /** How your service is known to behave: what `probe` prints for the sandbox. A case changes what it tests. */
  service: optional(is.object as Check<SandboxOptions>),
  /**
   * Cases that the connector is known to fail, with the reason. What such a case finds is printed, and it fails once the
   * connector passes it.
   */
  expected: option(is.object as Check<Readonly<Record<string, string>>>, {}),
  /** How long a run may take, in ms. Default: 120,000. */
  timeoutMs: option(is.durationFrom(0), 120_000),
};

type Inputs = OptionInputs<typeof connectorTestsOptions>;
type Reads = Pick<Inputs, 'collections' | 'run' | 'records'>;

/** Options of {@link connectorTests}: `collections`, `run` and `records` of a connector that reads, or `writes`, or both. */
export type ConnectorTestsOptions = Omit<Inputs, keyof Reads> &
  ({ [Name in keyof Reads]-?: NonNullable<Reads[Name]> } | { readonly writes: ConnectorWrites });

type Resolved = ResolvedOptions<typeof connectorTestsOptions>;

/** A case of {@link connectorTests}. */
export interface ConnectorTest {
  readonly name: string;
  /** One sentence: why real services do this. */
  readonly why: string;
  /** Starts the connector against the service of the case. Rejects with an Error that says what went wrong, and why. */
  readonly run: () => Promise<void>;
}

/**
 * Tests of a connector against services that lose, double, hide and delay records as real ones do, for any test runner:
 *
 * ```ts
 * const cases = connectorTests({
 *   collections: ['accounts', 'products'],
 *   run: ({ baseUrl, apiKey, signal }) => nightly({ baseUrl, apiKey, signal }),
 *   records: (collection) => db.all(`SELECT * FROM ${collection}`),
 *   reset: () => db.clear(),
 * });
 * for (const { name, run } of cases) test(name, run);
 * ```
 * Each case starts a sandbox on a port of this machine. Cases share the connector, so they run one after another even if
 * the test runner starts them at once. A connector that calls `sync` of this package needs `afterLastPage: 'not_found'`,
 * and takes its `records` from the column `body` of a target, because the views hold amounts as numbers.
 *
 * Throws a TypeError for an option or a case that does not exist.
 */
export function connectorTests(options: ConnectorTestsOptions): ConnectorTest[] {
  const checked = resolved(connectorTestsOptions, options, 'connectorTests');
  const halves = halvesOf(checked);
  const names = halves.flatMap(({ cases }) => cases.map(({ name }) => name));
  for (const [name, reason] of Object.entries(checked.expected)) {
    if (!names.includes(name))
      throw new TypeError(`expected: there is no case ${JSON.stringify(name)}. ${suggestion(name, names)}`);
    if (!is.string.allows(reason) || reason.trim() === '')
      throw new TypeError(`expected: ${name} needs a reason.`);
  }
  const turns = new Semaphore(1);
  return halves.flatMap((half) =>
    half.cases.map((each) => ({
      name: each.name,
      why: each.why,
      run: () => turns.run(() => runCase(each, half, checked)),
    })),
  );
}

const SHOWN_PROBLEMS = 5;

/** Runs a case. Rejects with what is wrong, unless it is expected to fail and does. */
async function runCase(each: Case, half: TestedHalf, options: Resolved): Promise<void> {
  const { name, why } = each;
  const reason = options.expected[name];
  const { problems, advice } = await verdictOf(each, half, options).catch((error: unknown) => {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
  if (problems.length === 0) {
    if (reason === undefined) return;
    throw new Error(`${name}: the connector passes this case now. Remove it from expected ("${reason}").`);
  }
  const left = problems.length - SHOWN_PROBLEMS;
  const more = left > 0 ? `\n… and ${left} more.` : '';
  const found = `${name}: ${problems.slice(0, SHOWN_PROBLEMS).join('\n')}${more}`;
  if (reason === undefined || problems.includes(LEAK))
    throw new Error(`${found}\n${advice}\nWhy services do this: ${why}`);
  console.info(`Expected ("${reason}"): ${found}`);
}

/** The cases of one half of the connector. */
interface TestedHalf {
  readonly cases: readonly Case[];
  readonly collections: readonly CollectionName[];
  /** Records of each collection, unless a case has other ones. */
  readonly records: number;
  readonly on: (stage: Stage) => Half | Promise<Half>;
}

function halvesOf({ collections, run, records, writes }: Resolved): TestedHalf[] {
  const halves: TestedHalf[] = [];
  if (collections !== undefined && run !== undefined && records !== undefined) {
    checkCollections('connectorTests', collections);
    if (collections.length === 0)
      throw new TypeError('connectorTests got no collections to read. Pass the names of at least one.');
    const on = (stage: Stage) => readingHalf(stage, run, records);
    halves.push({ cases: readingCases, collections, records: 23, on });
  } else if (writes === undefined || (collections ?? run ?? records) !== undefined) {
    throw new TypeError('connectorTests needs collections, run and records, or writes, or both.');
  }
  if (writes !== undefined) {
    const on = (stage: Stage) => writingHalf(stage, writes.run);
    halves.push({ cases: writingCases, collections: ['products'], records: 8, on });
  }
  return halves;
}

/** Plays a case against a service on a port. */
async function verdictOf(
  each: Case,
  { collections, records, on }: TestedHalf,
  { reset, service, timeoutMs }: Resolved,
): Promise<Verdict> {
  await reset?.();
  const seed = hashText(each.name);
  const counts = Object.fromEntries(collections.map((name) => [name, each.records ?? records]));
  // A page is small, so that a few records make several.
  const sizes = { pageSize: 5, records: counts };
  const options = { timestampsEverywhere: true, ...service, ...sizes, ...each.service, seed };
  const stage = new Stage(options, collections);
  await stage.sandbox.listen();
  try {
    return await play(each, { stage, half: await on(stage), timeoutMs });
  } finally {
    await stage.sandbox.close();
  }
}
