import timers from 'node:timers';
import { beforeEach } from 'vitest';

// The files of a project share a process: timers that a test has left faked would stop the tests of another file for ever.
beforeEach(() => {
  if (globalThis.setTimeout === timers.setTimeout) return;
  globalThis.setTimeout = timers.setTimeout;
  throw new Error('An earlier test of this process has left setTimeout replaced.');
});
