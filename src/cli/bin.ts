#!/usr/bin/env node
import pc from 'picocolors';
import { EXIT } from './exit-codes.ts';
import { Interrupted } from './interrupted.ts';
import { main } from './main.ts';
import { terminal } from './terminal.ts';

const stop = new AbortController();
for (const [name, exitCode] of [
  ['SIGINT', EXIT.interrupted],
  ['SIGTERM', EXIT.terminated],
] as const) {
  // Once: whoever presses Ctrl-C a second time does not want to wait.
  process.once(name, () => stop.abort(new Interrupted(name, exitCode)));
}
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  // `| head` has seen enough.
  stop.abort(new Interrupted('EPIPE', EXIT.pipeClosed));
});

process.exitCode = await main(process.argv.slice(2), {
  ...terminal(),
  env: process.env,
  colors: pc.isColorSupported && process.stderr.isTTY === true,
  signal: stop.signal,
});
