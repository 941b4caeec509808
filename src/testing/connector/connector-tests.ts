import type { CollectionName } from '../../collections/index.ts';
import { type OptionNames, suggestion } from '../../internal/option-names.ts';
import { checkCollections, checkNames, checkValue, is } from '../checks.ts';
import { hashText, mix, SeededRandom } from '../data/seeded-random.ts';
import type { SandboxOptions } from '../options.ts';
import type { CaseTexts } from './case.ts';
import { playReading, serviceOf } from './play-reading.ts';
import { playWriting, type WritingRun } from './play-writing.ts';
import { readingCases } from './reading-cases.ts';
import type { ConnectorRun } from './run-connector.ts';
import { Stage } from './stage.ts';
import { writingCases } from './writing-cases.ts';

/** The part of a connector that writes products. */
export interface ConnectorWrites {
  /**
   * Starts the connector once, as the option `run`. It has to bring `products` into the service, by `productNumber`: one
   * product for each, with its `name` and `salePrice`. Reject if a row failed.
   */
  run: (run: WritingRun) => unknown;
}

/** Options of {@link connectorTests}: `collections`, `run` and `records` of a connector that reads, or `writes`, or both. */
export interface ConnectorTestsOptions {
  /** The collections that the connector copies, by the names of the client's properties. */
  collections?: readonly CollectionName[] | undefined;
  /**
   * Starts the connector once: called again and again, for the next night and after a kill. Returns a promise that
   * rejects if the run failed, or `{ done, kill }` for another process. A kill without `kill` aborts `signal`, and the
   * service refuses every connection until the run has settled, which it has to do within 10 s.
   */
  run?: ((run: ConnectorRun) => unknown) | undefined;
  /**
   * What the copy holds of a collection now: an array, or a promise of one. Each record has `id`, `name` and any other
   * fields of the service, by their names or as `sale_price`; fields that the copy does not have are not compared.
   */
  records?: ((collection: CollectionName) => unknown) | undefined;
  /** The part of the connector that writes products. */
  writes?: ConnectorWrites | undefined;
  /** Empties the copy and the state of the connector. Called before each case. */
  reset?: (() => unknown) | undefined;
  /** What the connector has logged until now: its key must not be in it. */
  output?: (() => string | Promise<string>) | undefined;
  /** How your service is known to behave: what `probe` prints for the sandbox. A case changes what it tests. */
  service?: SandboxOptions | undefined;
  /** Cases that the connector is known to fail, with the reason. Such a case fails once the connector passes it. */
  expected?: Readonly<Record<string, string>> | undefined;
  /** The names of the only cases to run. */
  only?: readonly string[] | undefined;
  /** The names of cases that do not run. */
  skip?: readonly string[] | undefined;
  /** Decides which records change, and what they contain. Default: 1. */
  seed?: number | undefined;
  /** How long a run may take, in ms. Default: 30,000. */
  timeoutMs?: number | undefined;
}

const CONNECTOR_TESTS_OPTIONS: OptionNames<ConnectorTestsOptions> = {
  collections: true,
  run: true,
  records: true,
  writes: { run: true },
  reset: true,
  output: true,
  service: true,
  expected: true,
  only: true,
  skip: true,
  seed: true,
  timeoutMs: true,
};

/** A case of {@link connectorTests}. */
export interface ConnectorTest {
  readonly name: string;
  /** One sentence: why real services do this. */
  readonly why: string;
  /** Starts the connector against the service of the case. Rejects with an Error that says what went wrong, and why. */
  readonly run: () => Promise<void>;
}

const CHECKS = {
  seed: is.integer,
  timeoutMs: is.duration,
  only: is.strings,
  skip: is.strings,
};

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
 * Each case starts a sandbox on a port of this machine. Do not run two cases at once: they share the connector.
 *
 * Throws a TypeError for an option or a case that does not exist.
 */
export function connectorTests(options: ConnectorTestsOptions): ConnectorTest[] {
  checkNames('connectorTests', options, Object.keys(CONNECTOR_TESTS_OPTIONS));
  for (const [name, check] of Object.entries(CHECKS)) {
    const value = options[name as keyof typeof CHECKS];
    if (value !== undefined) checkValue(name, value, check);
  }
  const { only, skip = [], expected = {} } = options;
  const played = playedCases(options);
  const names = played.map(({ texts }) => texts.name);
  for (const [option, given] of Object.entries({ only: only ?? [], skip, expected: Object.keys(expected) })) {
    const unknown = given.find((name) => !names.includes(name));
    if (unknown !== undefined) {
      throw new TypeError(
        `${option}: there is no case ${JSON.stringify(unknown)}. ${suggestion(unknown, names)}`,
      );
    }
  }
  return played
    .filter(({ texts: { name } }) => (only ?? names).includes(name) && !skip.includes(name))
    .map(({ texts: { name, why, advice }, play }) => ({
      name,
      why,
      async run() {
        const seed = options.seed ?? 1;
        const problems = await play(mix(seed, hashText(name)));
        const reason = expected[name];
        if (reason === undefined && problems.length > 0) {
          const left = problems.length - SHOWN_PROBLEMS;
          const more = left > 0 ? `\n… and ${left} more.` : '';
          throw failure([
            `${name}: ${problems.slice(0, SHOWN_PROBLEMS).join('\n')}${more} ${advice}`,
            `Why services do this: ${why}`,
            `Repeat it with only: ['${name}'], seed: ${seed}.`,
          ]);
        }
        if (reason !== undefined && problems.length === 0) {
          throw failure([
            `${name}: the connector passes this case now. Remove it from expected ("${reason}").`,
          ]);
        }
      },
    }));
}

const SHOWN_PROBLEMS = 5;

function failure(lines: readonly string[]): Error {
  const error = new Error(lines.join('\n'));
  error.name = 'ConnectorTestError';
  return error;
}

interface PlayedCase {
  readonly texts: CaseTexts;
  /** What went wrong. */
  readonly play: (seed: number) => Promise<readonly string[]>;
}

function playedCases(options: ConnectorTestsOptions): PlayedCase[] {
  const { collections, run, records, writes, timeoutMs = 30_000 } = options;
  const reads = [collections, run, records].filter((option) => option !== undefined).length;
  if (reads !== 3 && (reads > 0 || writes === undefined)) {
    throw new TypeError('connectorTests needs collections, run and records, or writes, or both.');
  }
  const reading: PlayedCase[] = [];
  if (collections !== undefined && run !== undefined && records !== undefined) {
    checkCollections('connectorTests', collections);
    for (const each of readingCases) {
      const play = (stage: Stage) => playReading(each, stage, { run, records, timeoutMs });
      reading.push(playedCase(each, options, collections, play));
    }
  }
  if (writes === undefined) return reading;
  const writing = writingCases.map((each) => {
    const play = (stage: Stage) => playWriting(each, stage, { run: writes.run, timeoutMs });
    return playedCase({ ...each, records: 0 }, options, ['products'], play);
  });
  return [...reading, ...writing];
}

/** A case with its service, which listens on a port while it is played. */
function playedCase(
  texts: CaseTexts & Parameters<typeof serviceOf>[0],
  { service: given = {}, reset, output }: ConnectorTestsOptions,
  collections: readonly CollectionName[],
  play: (stage: Stage) => Promise<readonly string[]>,
): PlayedCase {
  return {
    texts,
    async play(seed) {
      await reset?.();
      const options = serviceOf(texts, { given, collections, seed });
      const stage = new Stage(options, collections, new SeededRandom(seed));
      const { sandbox } = stage;
      await sandbox.listen();
      try {
        const problems = await play(stage);
        const log = (await output?.()) ?? '';
        if (!log.includes(sandbox.keys.full)) return problems;
        return [...problems, 'The output of the connector contains its API key.'];
      } finally {
        await sandbox.close();
      }
    },
  };
}
