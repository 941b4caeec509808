import { PassThrough, Writable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { terminal } from '../../../src/cli/terminal.ts';

/** The streams of a process: whether its input and its log are a terminal, and what the log shows. */
function streams({ input = true, log = true } = {}) {
  const stdin = Object.assign(new PassThrough(), { isTTY: input });
  const shown: string[] = [];
  const write = (text: unknown, _: unknown, done: () => void) => {
    shown.push(String(text));
    done();
  };
  const stderr = Object.assign(new Writable({ write }), { isTTY: log });
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin as never);
  vi.spyOn(process, 'stderr', 'get').mockReturnValue(stderr as never);
  vi.stubEnv('TERM', 'xterm');
  return { stdin, shown };
}

const { signal } = new AbortController();

test.each([
  ['y', true],
  [' YES ', true],
  ['', false],
  ['n', false],
  ['yikes', false],
  ['not yes', false],
])('%j to a question on a terminal means %s', async (typed, agreed) => {
  const { stdin, shown } = streams();
  const asked = terminal().prompt?.confirm('Continue?', signal);
  stdin.write(`${typed}\n`);
  expect([await asked, shown.join('')]).toEqual([agreed, expect.stringContaining('Continue? [y/N] ')]);
});

test('a key is typed on a terminal without being shown', async () => {
  const { stdin, shown } = streams();
  const asked = terminal().prompt?.secret('API key: ', signal);
  stdin.write('k3y\r');
  expect([await asked, shown.join('')]).toEqual(['k3y', 'API key: \n']);
});

test('a question on a terminal ends with the signal', async () => {
  streams();
  const stop = new AbortController();
  const { prompt } = terminal();
  const asked = [prompt?.secret('API key: ', stop.signal), prompt?.confirm('Continue?', stop.signal)];
  stop.abort();
  const ended = await Promise.allSettled(asked);
  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test.each([
  [{ input: false }, false, true],
  [{ log: false }, false, false],
  [{}, true, true],
])('with %j as a terminal, the command asks: %s, and shows a status line: %s', (which, asks, shows) => {
  streams(which);
  const { prompt, status } = terminal();
  expect([prompt !== undefined, status !== undefined]).toEqual([asks, shows]);
  vi.stubEnv('TERM', 'dumb');
  expect(terminal().status).toBeUndefined();
});
