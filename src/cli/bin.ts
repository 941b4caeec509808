#!/usr/bin/env node
import pc from 'picocolors';
import { EXIT } from './exit-codes.ts';
import { sayEnding } from './failure-of.ts';
import { Interrupted } from './interrupted.ts';
import type { Io } from './io.ts';
import { main } from './main.ts';
import { brokenOutput, terminal } from './terminal.ts';

const stop = new AbortController();
for (const [name, exitCode] of [
  ['SIGINT', EXIT.interrupted],
  ['SIGTERM', EXIT.terminated],
] as const) {
  // Once: whoever presses Ctrl-C a second time does not want to wait.
  process.once(name, () => stop.abort(new Interrupted(name, exitCode)));
}

const io: Io = {
  ...terminal(),
  env: process.env,
  colors: pc.isColorSupported && process.stderr.isTTY === true,
  signal: stop.signal,
};
let isDone = false;
process.stdout.on('error', (error) => {
  const reason = brokenOutput(error);
  stop.abort(reason);
  // What a command says last may fail only after it has ended.
  if (isDone) process.exitCode = sayEnding(reason, io);
});
process.exitCode = await main(process.argv.slice(2), io);
isDone = true;
