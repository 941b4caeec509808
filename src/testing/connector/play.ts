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
}

/** A run is killed after this many requests, the next one after twice as many, and so on. */
const REQUESTS_TO_KILL = 3;
const MOST_KILLS = 40;
/** How long a connector is watched after it was killed. */
const AFTER_KILL_MS = 50;
const ALIVE = 'The run sent requests after it had been killed and had settled.';

/** Plays the nights of a case, and returns what is wrong after the first one that goes wrong, as sentences. */
export async function play(
  { nights }: Case,
  { stage, half, timeoutMs }: { stage: Stage; half: Half; timeoutMs: number },
): Promise<readonly string[]> {
  const start = async (night: Night, requestsToKill = Number.POSITIVE_INFINITY) => {
    const { baseUrl, keys, faults } = stage.sandbox;
    const kill = new AbortController();
    let left = requestsToKill;
    const stopCounting = stage.sandbox.onRequest(() => {
      left -= 1;
      if (left === 0) kill.abort();
    });
    const run = (signal: AbortSignal) => half.run({ baseUrl, apiKey: keys.full, signal }, night);
    const ending = await runConnector(run, { timeoutMs, kill: kill.signal, faults });
    stopCounting();
    return ending;
  };
  /** Kills run after run, each some requests later, until one ends before that or something is wrong. */
  const startAndKill = async (night: Night): Promise<Ending> => {
    for (let kills = 1; ; kills += 1) {
      const ending = await start(night, kills <= MOST_KILLS ? REQUESTS_TO_KILL * kills : undefined);
      if (ending.how !== 'killed' || ending.problems.length > 0) return ending;
      const before = stage.requests;
      await wait(AFTER_KILL_MS);
      const problems = stage.requests > before ? [ALIVE] : await half.judge(night, [ending]);
      if (problems.length > 0) return { ...ending, problems };
    }
  };
  for (const night of nights) {
    stage.begin(() => night.before?.(stage, half.rows));
    const { during } = night;
    stage.onList = during && ((request) => during(stage, request));
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
    if (problems.length > 0) return problems;
    const left = await half.judge(night, endings);
    if (left.length > 0) return [...left, ...endings.flatMap(rejection)];
  }
  return [];
}

/** What is wrong with the way in which a run ended. */
function endingProblems(ending: Ending, { ends = 'well', runs = 'once' }: Night): readonly string[] {
  if (ending.how === 'loudly' && ends === 'well' && runs === 'once') return rejection(ending);
  if (ending.how === 'well' && ends === 'loudly') return ['The run reported success. It has to reject.'];
  return ending.problems;
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
