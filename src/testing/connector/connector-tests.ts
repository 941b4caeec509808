import type { CollectionName } from '../../collections/index.ts';
import {
  type Check,
  group,
  type OptionInputs,
  option,
  optional,
  type ResolvedOptions,
  required,
} from '../../internal/options.ts';
import { Semaphore } from '../../internal/semaphore.ts';
import { suggestion } from '../../internal/suggestion.ts';
import { checkCollections, is, resolved } from '../checks.ts';
import { hashText, mix, SeededRandom } from '../data/seeded-random.ts';
import type { SandboxOptions } from '../options.ts';
import type { Case } from './case.ts';
import { type Half, LEAK, play } from './play.ts';
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
export interface ConnectorWrites extends OptionInputs<typeof writesOptions> {}

const connectorTestsOptions = {
  /** The collections that the connector copies, by the names of the client's properties. */
  collections: optional(is.strings as Check<readonly CollectionName[]>),
  /**
   * Starts the connector once: called again and again, for the next night and after a kill. Returns a promise that
   * rejects if the run failed, or `{ done, kill }` for another process. A kill without `kill` aborts `signal`, and the
   * service refuses every connection until the run has settled, which it has to do within 10 s.
   */
  run: optional(is.callback<(run: ConnectorRun) => unknown>()),
  /**
   * What the copy holds of a collection now: an array, or a promise of one. Each record has `id`, `name` and any other
   * fields of the service, by their names or as `sale_price`; fields that the copy does not have are not compared.
   */
  records: optional(is.callback<(collection: CollectionName) => unknown>()),
  /** The part of the connector that writes products. */
  writes: optional(group(writesOptions)),
  /** Empties the copy and the state of the connector. Called before each case. */
  reset: optional(is.callback<() => unknown>()),
  /** What the connector has logged until now: the API key must not be in it, nor in an error with which a run rejects. */
  output: optional(is.callback<() => string | Promise<string>>()),
  /** How your service is known to behave: what `probe` prints for the sandbox. A case changes what it tests. */
  service: optional(is.object as Check<SandboxOptions>),
  /**
   * Cases that the connector is known to fail, with the reason. What such a case finds is printed, and it fails once the
   * connector passes it.
   */
  expected: option(is.object as Check<Readonly<Record<string, string>>>, {}),
  /** The names of the only cases to run. */
  only: optional(is.strings),
  /** The names of cases that do not run. */
  skip: option(is.strings, []),
  /** Decides which records change, and what they contain. Default: 1. */
  seed: option(is.integer, 1),
  /** How long a run may take, in ms. Default: 30,000. */
  timeoutMs: option(is.durationFrom(0), 30_000),
};

/** Options of {@link connectorTests}: `collections`, `run` and `records` of a connector that reads, or `writes`, or both. */
export interface ConnectorTestsOptions extends OptionInputs<typeof connectorTestsOptions> {}

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
 * the test runner starts them at once.
 *
 * Throws a TypeError for an option or a case that does not exist.
 */
export function connectorTests(options: ConnectorTestsOptions): ConnectorTest[] {
  const checked = resolved(connectorTestsOptions, options, 'connectorTests');
  const { only, skip, expected } = checked;
  for (const [name, given] of Object.entries({ collections: checked.collections, only })) {
    if (given?.length === 0) throw new TypeError(`${name} must not be empty: nothing would be tested.`);
  }
  const halves = halvesOf(checked);
  const names = halves.flatMap(({ cases }) => cases.map(({ name }) => name));
  for (const [option, given] of Object.entries({ only: only ?? [], skip, expected: Object.keys(expected) })) {
    const unknown = given.find((name) => !names.includes(name));
    if (unknown !== undefined) {
      throw new TypeError(
        `${option}: there is no case ${JSON.stringify(unknown)}. ${suggestion(unknown, names)}`,
      );
    }
  }
  const hollow = Object.entries(expected).find(
    ([, reason]) => !is.string.allows(reason) || reason.trim() === '',
  );
  if (hollow !== undefined) throw new TypeError(`expected: ${hollow[0]} needs a reason.`);
  const turns = new Semaphore(1);
  return halves.flatMap((half) =>
    half.cases
      .filter(({ name }) => (only ?? names).includes(name) && !skip.includes(name))
      .map((each) => ({
        name: each.name,
        why: each.why,
        run: () => turns.run(() => runCase(each, half, checked)),
      })),
  );
}

const SHOWN_PROBLEMS = 5;

/** Runs a case. Rejects with what is wrong, unless it is expected to fail and does. */
async function runCase(each: Case, half: TestedHalf, options: Resolved): Promise<void> {
  const { name, advice, why } = each;
  const reason = options.expected[name];
  const problems = await problemsOf(each, half, options).catch((error: unknown) => {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  });
  if (problems.length === 0) {
    if (reason === undefined) return;
    throw new Error(`${name}: the connector passes this case now. Remove it from expected ("${reason}").`);
  }
  const left = problems.length - SHOWN_PROBLEMS;
  const found = [
    `${name}: ${problems.slice(0, SHOWN_PROBLEMS).join('\n')}`,
    ...(left > 0 ? [`… and ${left} more.`] : []),
  ].join('\n');
  if (reason !== undefined && !problems.includes(LEAK)) {
    console.info(`Expected ("${reason}"): ${found}`);
    return;
  }
  throw new Error(
    [
      found,
      advice,
      `Why services do this: ${why}`,
      `Repeat it with only: ['${name}'], seed: ${options.seed}.`,
    ].join('\n'),
  );
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
    const on = (stage: Stage) => readingHalf(stage, run, records);
    halves.push({ cases: readingCases, collections, records: 23, on });
  } else if (
    writes === undefined ||
    collections !== undefined ||
    run !== undefined ||
    records !== undefined
  ) {
    throw new TypeError('connectorTests needs collections, run and records, or writes, or both.');
  }
  if (writes !== undefined) {
    const on = (stage: Stage) => writingHalf(stage, writes.run);
    halves.push({ cases: writingCases, collections: ['products'], records: 8, on });
  }
  return halves;
}

/** Plays a case against a service on a port, and returns what went wrong. */
async function problemsOf(
  each: Case,
  { collections, records, on }: TestedHalf,
  { reset, output, service, seed: given, timeoutMs }: Resolved,
): Promise<readonly string[]> {
  await reset?.();
  const seed = mix(given, hashText(each.name));
  const counts = Object.fromEntries(collections.map((name) => [name, each.records ?? records]));
  // A page is small, so that a few records make several.
  const sizes = { pageSize: 5, records: counts };
  const options = { timestampsEverywhere: true, ...service, ...sizes, ...each.service, seed };
  const stage = new Stage(options, collections, new SeededRandom(seed));
  const { sandbox } = stage;
  await sandbox.listen();
  try {
    const problems = await play(each, { stage, half: await on(stage), timeoutMs });
    const log: unknown = (await output?.()) ?? '';
    if (typeof log !== 'string') throw new TypeError('output must return a string.');
    return log.includes(sandbox.keys.full) ? [...problems, LEAK] : problems;
  } finally {
    await sandbox.close();
  }
}
