import { sentence } from '../../internal/text.ts';
import { wait } from '../wait.ts';
import type { Case, Night, ProductRow } from './case.ts';
import { type ConnectorRun, type Ending, runConnector } from './run-connector.ts';
import type { Stage } from './stage.ts';

/** The half of a connector that a case tests: the one that reads, or the one that writes. */
export interface Half {
  /** The rows to write; none if it reads. */
  readonly rows: readonly ProductRow[];
  run(run: ConnectorRun, night: Night): unknown;
  /** What some runs have left that is wrong, as sentences. */
  judge(night: Night, endings: readonly Ending[]): Promise<readonly string[]>;
  /** What runs that reported success did not do, as sentences. */
  unreported?(): readonly string[];
}

/** What is wrong after a case, as sentences. `advice` is that of the case, unless the problem has one of its own. */
export interface Verdict {
  readonly problems: readonly string[];
  readonly advice: string;
}

/** The API key was where trackers of errors get it from. It fails a case that is expected to fail, too. */
export const LEAK = 'The API key is in an error with which a run rejected.';

/** A run is killed after this many requests, the next one after twice as many, and so on. */
const REQUESTS_TO_KILL = 3;
const MOST_KILLS = 40;
/** How long a connector is watched after it was killed. */
const AFTER_KILL_MS = 50;

/** Plays the nights of a case to the first one that goes wrong. */
export async function play(
  { nights, advice }: Case,
  { stage, half, timeoutMs }: { stage: Stage; half: Half; timeoutMs: number },
): Promise<Verdict> {
  const { baseUrl, keys, faults } = stage.sandbox;
  const start = async (night: Night, requestsToKill = Number.POSITIVE_INFINITY): Promise<Ending> => {
    const kill = new AbortController();
    const last = stage.requests + requestsToKill;
    const stopCounting = stage.sandbox.onRequest(() => {
      if (stage.requests === last) kill.abort();
    });
    const run = (signal: AbortSignal) => half.run({ baseUrl, apiKey: keys.full, signal }, night);
    const ending = await runConnector(run, { timeoutMs, kill: kill.signal, faults });
    stopCounting();
    const hasLeaked = textOf(ending.error).includes(keys.full);
    return hasLeaked ? { ...ending, problems: [...ending.problems, LEAK] } : ending;
  };
  /** Kills run after run, each some requests later, until one ends before that or something is wrong. */
  const startAndKill = async (night: Night): Promise<Ending> => {
    for (let kills = 1; ; kills += 1) {
      const ending = await start(night, kills <= MOST_KILLS ? REQUESTS_TO_KILL * kills : undefined);
      if (ending.how !== 'killed' || ending.problems.length > 0) return ending;
      const before = stage.requests;
      await wait(AFTER_KILL_MS);
      const problems =
        stage.requests > before
          ? ['The run sent requests after it had been killed and had settled.']
          : await half.judge(night, [ending]);
      if (problems.length > 0) return { ...ending, problems };
    }
  };
  for (const night of nights) {
    stage.begin(() => night.before?.(stage, half.rows), night.during);
    const startAs = {
      once: async () => [await start(night)],
      killed: async () => [await startAndKill(night)],
      'twice at once': () => Promise.all([start(night), start(night)]),
      'twice in a row': async () => [await start(night), await start(night)],
    };
    const endings = await startAs[night.runs ?? 'once']();
    stage.end();
    const problems = [
      ...endings.flatMap((ending) => endingProblems(ending, night)),
      ...tooMany429s(stage, night),
    ];
    if (problems.length > 0) return { problems, advice };
    const unreported = endings.every(({ how }) => how === 'well') ? (half.unreported?.() ?? []) : [];
    if (unreported.length > 0)
      return { problems: unreported, advice: 'Reject if a row failed, and try it again in the next run.' };
    const left = await half.judge(night, endings);
    if (left.length > 0) return { problems: [...left, ...endings.flatMap(rejection)], advice };
  }
  return { problems: [], advice };
}

/** Everything that a log shows of an error: with its stack and its causes. */
function textOf(error: unknown, causes = 5): string {
  if (!(error instanceof Error)) return String(error);
  return [error.message, error.stack, causes > 0 ? textOf(error.cause, causes - 1) : ''].join('\n');
}

/** What is wrong with the way in which a run ended. */
function endingProblems(ending: Ending, { ends = 'well' }: Night): readonly string[] {
  const { how, problems } = ending;
  if (how === 'loudly' && ends === 'well') return [...rejection(ending), ...problems];
  if (how === 'well' && ends === 'loudly') return ['The run reported success. It has to reject.'];
  return problems;
}

function rejection({ how, error }: Ending): string[] {
  if (how !== 'loudly') return [];
  return [sentence(`The run rejected: ${error instanceof Error ? error.message : String(error)}`)];
}

function tooMany429s({ sandbox }: Stage, { most429s = Number.POSITIVE_INFINITY }: Night): string[] {
  const count = sandbox.count(({ status }) => status === 429);
  if (count <= most429s) return [];
  return [
    `The connector got ${count} responses with status 429. ${most429s} are enough to notice the limit.`,
  ];
}
