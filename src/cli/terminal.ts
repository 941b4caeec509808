import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandFailure } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { Interrupted } from './interrupted.ts';
import type { Io, Prompt } from './io.ts';
import { StatusLine } from './status-line.ts';

/** What a command gets of the streams of its process; prompts and status only where there is a terminal. */
export function terminal(): Pick<Io, 'out' | 'log' | 'write' | 'status' | 'prompt' | 'columns'> {
  const { stdin, stdout, stderr } = process;
  const talks = stdin.isTTY === true && stderr.isTTY === true;
  const line = new StatusLine(stderr);
  return {
    out: (text) => line.beside(() => console.log(text)),
    log: (text) => line.beside(() => console.error(text)),
    write: (text) =>
      new Promise((resolve, reject) => {
        const done = (error: Error | null | undefined) => (error ? reject(brokenOutput(error)) : resolve());
        line.beside(() => stdout.write(text, done));
      }),
    status: stderr.isTTY === true && process.env.TERM !== 'dumb' ? (text) => line.show(text) : undefined,
    prompt: talks ? { secret, confirm } : undefined,
    columns: stdout.isTTY === true ? stdout.columns || undefined : undefined,
  };
}

/** What an error of standard output means for a command: `| head` has seen enough, or the lines go nowhere. */
export function brokenOutput(error: NodeJS.ErrnoException): Interrupted | CommandFailure {
  if (error.code === 'EPIPE') return new Interrupted('EPIPE', EXIT.pipeClosed);
  return new CommandFailure(`Standard output cannot be written: ${error.message}.`, {
    advice: 'Check where it goes, and the space that is left there.',
    exitCode: EXIT.file,
  });
}

/** Questions go to standard error: standard output is for what was asked for. */
const secret: Prompt['secret'] = async (question, signal) => {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  process.stderr.write(question);
  try {
    return await lines.question('', { signal });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
};

const confirm: Prompt['confirm'] = async (question, signal) => {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return /^y(?:es)?$/i.test((await lines.question(`${question} [y/N] `, { signal })).trim());
  } finally {
    lines.close();
  }
};
