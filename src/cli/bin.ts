#!/usr/bin/env node
import { EXIT, Interrupted, reportError } from './errors.ts';
import type { Io } from './io.ts';
import { main } from './main.ts';
import { brokenOutput, terminal } from './terminal.ts';

const stop = new AbortController();
for (const [name, exitCode] of [
  ['SIGINT', EXIT.interrupted],
  ['SIGTERM', EXIT.terminated],
] as const) {
  // Once: a second Ctrl-C ends the process at once.
  process.once(name, () => stop.abort(new Interrupted(name, exitCode)));
}

const io: Io = {
  ...terminal(),
  env: process.env,
  colors: process.stderr.isTTY === true && process.stderr.hasColors(),
  signal: stop.signal,
};
let isDone = false;
process.stdout.on('error', (error) => {
  const reason = brokenOutput(error);
  stop.abort(reason);
  // The last lines of a command may fail only after it has ended.
  if (isDone) process.exitCode = reportError(reason, io);
});
process.exitCode = await main(process.argv.slice(2), io);
isDone = true;
