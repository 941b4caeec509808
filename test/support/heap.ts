import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The heap in use after a forced collection, in MB. */
export function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // The second one takes what the first has only let go of.
  collect();
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
