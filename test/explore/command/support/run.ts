import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, onTestFinished, vi } from 'vitest';
import { EXIT, Interrupted } from '../../../../src/cli/errors.ts';
import type { Io } from '../../../../src/cli/io.ts';
import { main } from '../../../../src/cli/main.ts';
import { networkError } from '../../../support/scripted-fetch.ts';
import { runUntilSettled } from '../../../support/virtual-clock.ts';
import type { Ran, Settings } from './process.ts';

export { main };

/** The reason of the signal after Ctrl-C. */
export const interruption = () => new Interrupted('SIGINT', EXIT.interrupted);

const settingsOf = ({ baseUrl, keys }: Sandbox): Settings => ({
  ACCOUNTING_BASE_URL: baseUrl,
  ACCOUNTING_API_KEY: keys.full,
});

type RequestFetch = (request: Request, init?: RequestInit) => Promise<Response>;

/** The `fetch` of the sandboxes of a test without sockets. */
let sandboxFetch: RequestFetch | undefined;
const unreachable = () => Promise.reject(networkError('ECONNREFUSED'));

/**
 * A sandbox, and the environment that names it, for commands in this process. It uses no sockets, which take longer. No
 * other address can be reached.
 */
export function openSandbox(options: SandboxOptions = {}): { sandbox: Sandbox; env: Settings } {
  const sandbox = createSandbox(options);
  const others = sandboxFetch ?? unreachable;
  sandboxFetch = (request, init) => {
    const isOwn = new URL(request.url).origin === sandbox.baseUrl;
    return isOwn ? sandbox.fetch(request, init) : others(request, init);
  };
  vi.stubGlobal('fetch', sandboxFetch);
  onTestFinished(() => {
    sandboxFetch = undefined;
  });
  return { sandbox, env: settingsOf(sandbox) };
}

/** The same on a port, for commands in other processes. */
export async function listening(options: SandboxOptions = {}): Promise<{ sandbox: Sandbox; env: Settings }> {
  const sandbox = createSandbox(options);
  await sandbox.listen();
  onTestFinished(() => sandbox.close());
  return { sandbox, env: settingsOf(sandbox) };
}

let currentFolder: string | undefined;

/** The folder in which the commands of one test run: a push keeps its state there. */
function folderOfTest(): string {
  if (currentFolder === undefined) {
    currentFolder = mkdtempSync(join(tmpdir(), 'accounting-cwd-'));
    onTestFinished(() => {
      rmSync(currentFolder ?? '', { recursive: true, force: true });
      currentFolder = undefined;
    });
  }
  return currentFolder;
}

/** Runs the command in this process: at once, if the clock is virtual and no socket is used. */
export async function run(env: Settings, args: readonly string[], more: Partial<Io> = {}): Promise<Ran> {
  const out: string[] = [];
  const log: string[] = [];
  const running = main(args, {
    out: (line) => out.push(`${line}\n`),
    log: (line) => log.push(`${line}\n`),
    env,
    colors: false,
    cwd: folderOfTest(),
    signal: new AbortController().signal,
    ...more,
  });
  const isVirtual = vi.isFakeTimers() && sandboxFetch !== undefined;
  const code = await (isVirtual ? runUntilSettled(running) : running);
  return { code, out: out.join(''), log: log.join('') };
}

/** How a command ends: its exit code, and what its log contains. */
export async function ends(running: Promise<Ran>, code: number, said: string | RegExp = ''): Promise<Ran> {
  const ran = await running;
  const log = typeof said === 'string' ? expect.stringContaining(said) : expect.stringMatching(said);
  expect([ran.code, ran.log]).toEqual([code, log]);
  return ran;
}

/** A folder for the files of one test. */
export function folder(): (name: string) => string {
  const path = mkdtempSync(join(tmpdir(), 'accounting-cli-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return (name) => join(path, name);
}

/** The records of NDJSON; throws for a line that is not whole. */
export function records(ndjson: string): Record<string, unknown>[] {
  if (ndjson === '') return [];
  if (!ndjson.endsWith('\n')) throw new Error('the last line is torn');
  return ndjson
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
