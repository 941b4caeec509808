import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
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
    write: async (text) => {
      let hasRoom = true;
      line.beside(() => {
        hasRoom = stdout.write(text);
      });
      if (!hasRoom) await once(stdout, 'drain');
    },
    status: stderr.isTTY === true && process.env.TERM !== 'dumb' ? (text) => line.show(text) : undefined,
    prompt: talks ? { secret, confirm } : undefined,
    columns: stdout.isTTY === true ? stdout.columns || undefined : undefined,
  };
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
