import { wait } from '../wait.ts';
import type { RunsOfNight } from './case.ts';
import { type ConnectorRun, type Ending, type RunningConnector, startConnector } from './run-connector.ts';
import type { Stage } from './stage.ts';

/** What a case needs of the user's connector. */
export interface Connector {
  readonly run: (run: ConnectorRun) => unknown;
  readonly timeoutMs: number;
}

/** A run is killed after this many requests, the next one after twice as many, and so on. */
const REQUESTS_TO_KILL = 3;
const MOST_KILLS = 40;
/** How long a connector is watched after it was killed. */
const AFTER_KILL_MS = 50;

/** Runs the connector in one of the ways. `afterKill` is called after each kill, before the next run. */
export async function runNight(
  stage: Stage,
  connector: Connector,
  { runs = 'once' }: RunsOfNight,
  afterKill: () => Promise<void> = async () => {},
): Promise<readonly Ending[]> {
  if (runs === 'killed') return await runAndKill(stage, connector, afterKill);
  if (runs === 'twice in a row')
    return [await start(stage, connector).ending, await start(stage, connector).ending];
  const running =
    runs === 'once' ? [start(stage, connector)] : [start(stage, connector), start(stage, connector)];
  return await Promise.all(running.map(({ ending }) => ending));
}

/** Starts a connector. Once it is killed, the service refuses every connection until it has settled. */
function start({ sandbox }: Stage, { run, timeoutMs }: Connector): RunningConnector {
  const onKill = () => {
    const refused = sandbox.faults.add({ kind: 'connection-refused' }, { times: Infinity });
    return () => refused.remove();
  };
  const { baseUrl, keys } = sandbox;
  return startConnector(run, { baseUrl, apiKey: keys.full }, { timeoutMs, onKill });
}

/** Starts a connector and kills it, each time some requests later, until a run ends before that. */
async function runAndKill(
  stage: Stage,
  connector: Connector,
  afterKill: () => Promise<void>,
): Promise<readonly Ending[]> {
  const endings: Ending[] = [];
  for (let kills = 1; kills <= MOST_KILLS; kills += 1) {
    const last = stage.requests + REQUESTS_TO_KILL * kills;
    const running = start(stage, connector);
    stage.onRequest = (number) => {
      if (number === last) running.kill();
    };
    const ending = await running.ending;
    stage.onRequest = () => {};
    endings.push(ending);
    if (ending.how !== 'killed') break;
    const before = stage.requests;
    await wait(AFTER_KILL_MS);
    if (stage.requests > before) return [...endings, { how: 'stuck' }];
    await afterKill();
  }
  return endings;
}

/** What is wrong with the way in which a run ended. */
export function endingProblems(
  { how, error }: Ending,
  { ends = 'well', runs = 'once' }: RunsOfNight,
): string[] {
  if (how === 'late') return ['The run had not ended after timeoutMs.'];
  if (how === 'stuck')
    return [
      'The run was killed: its signal aborted, and the service refused connections. It had not settled 10 s later, or sent requests afterwards.',
    ];
  if (how === 'loudly' && ends === 'well' && runs === 'once')
    return [`The run rejected: ${error instanceof Error ? error.message : String(error)}`];
  if (how === 'well' && ends === 'loudly') return ['The run reported success. It has to reject.'];
  return [];
}
