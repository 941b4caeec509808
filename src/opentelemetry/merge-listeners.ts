import type { Listeners } from '../events.ts';

type Listener = (event: never) => unknown;

/**
 * Several sets of listeners as one, for `on`: each is told of each event, in the order given.
 *
 * ```ts
 * createClient({ on: mergeListeners(telemetryListeners(), { error: ({ error }) => report(error) }) });
 * ```
 * What one of them throws keeps no other from being told, and is then the client's to report.
 */
export function mergeListeners(...sets: readonly Listeners[]): Listeners {
  const merged: Record<string, (event: never) => unknown> = {};
  for (const name of new Set(sets.flatMap((set) => Object.keys(set))) as Set<keyof Listeners>) {
    const told = sets.map((set) => set[name]).filter((listener) => listener !== undefined) as Listener[];
    if (told.length > 0) merged[name] = (event) => tellAll(told, event);
  }
  return merged;
}

function tellAll(listeners: readonly Listener[], event: never): unknown {
  const results: unknown[] = [];
  const errors: unknown[] = [];
  for (const listener of listeners) {
    try {
      results.push(listener(event));
    } catch (error) {
      errors.push(error);
    }
  }
  // A listener may be async. The client waits for none, but reports the failure of a promise that it is given.
  const promises = results.filter((result) => result instanceof Promise);
  const running = promises.length === 0 ? undefined : Promise.all(promises);
  if (errors.length === 0) return running;

  running?.catch(() => undefined);
  throw errors[0];
}
