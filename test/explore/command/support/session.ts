import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Sandbox, SandboxKeys, SandboxOptions } from 'accounting-data-sdk/testing';
import { startEvenClock } from '../../../support/virtual-clock.ts';
import { withoutChance } from '../../../support/without-chance.ts';
import { folder, interruption, openSandbox, run } from './run.ts';

/**
 * A command line, or what happens before the next one. `DIR` is the folder of the session. Behind `^C2 ` it is stopped by
 * Ctrl-C with the second request, behind `^C2w ` with the second write, and behind `^C0 ` before it begins.
 */
export type Step = string | ((sandbox: Sandbox) => void);

/** What is typed, one command after the other. */
export interface Session {
  readonly service?: SandboxOptions;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly files?: Readonly<Record<string, string>>;
  /** What is typed at each prompt. */
  readonly typed?: readonly string[];
  /** In pieces. */
  readonly stdin?: readonly string[];
  /** Shows the status line of a terminal too, of this width. */
  readonly columns?: number;
  readonly steps: readonly Step[];
}

type Terminal = NonNullable<Parameters<typeof run>[2]>['prompt'];

/** A terminal at which this is typed. */
function promptOf(typed: string[], lines: string[]): Terminal {
  const next = async (question: string) => {
    const line = typed.shift() ?? '';
    lines.push(`  ? ${question} ${line}`);
    return line;
  };
  return { secret: next, confirm: async (question) => (await next(question)) === 'y' };
}

/** What the commands of a session print, ask, write and return. */
export async function play(session: Session): Promise<string> {
  const { service, env, files = {}, typed = [], stdin, columns, steps } = session;
  startEvenClock();
  const opened = openSandbox({
    clock: { now: () => Date.now() },
    origin: 'https://service.example',
    ...service,
  });
  const { sandbox } = opened;
  const settings = { ...opened.env, ...env };
  if (settings.ACCOUNTING_API_KEY === 'forbidden') settings.ACCOUNTING_API_KEY = sandbox.keys.forbidden;
  const inFolder = folder();
  const directory = dirname(inFolder('x'));
  const cwd = inFolder('cwd');
  mkdirSync(cwd);
  const own = (text: string) =>
    text.replaceAll(/KEY_OF_(\w+)/g, (_, name: keyof SandboxKeys) => sandbox.keys[name]);
  for (const [name, text] of Object.entries(files)) writeFileSync(inFolder(name), own(text));
  const before = new Map<string, string>(Object.entries(files));
  const keyboard = typed.map(own);
  const lines: string[] = [];
  for (const step of steps) {
    if (typeof step !== 'string') {
      step(sandbox);
      continue;
    }
    const [, stopAt, writes, line = step] = /^\^C(\d+)(w?) (.*)$/.exec(step) ?? [];
    const args = own(line)
      .split(' ')
      .map((arg) => arg.replaceAll('DIR', directory));
    lines.push(`$ ${step}`);
    const stop = new AbortController();
    const interrupt = () => stop.abort(interruption());
    let left = Number(stopAt ?? Infinity);
    if (left === 0) interrupt();
    const forget = sandbox.onRequest(({ method }) => {
      if (writes !== 'w' || method !== 'GET') left -= 1;
      if (left === 0) interrupt();
    });
    const status = (text: string | undefined) => {
      const shown = `  ~ ${text ?? ''}`.trimEnd();
      if (lines.at(-1) !== shown) lines.push(shown);
    };
    const { code, out, log } = await run(settings, line === '' ? [] : args, {
      cwd,
      columns: columns ?? 80,
      signal: stop.signal,
      ...(columns !== undefined && { status }),
      ...(typed.length > 0 && { prompt: promptOf(keyboard, lines) }),
      ...(stdin !== undefined && {
        stdin: (async function* () {
          for (const piece of stdin) yield Buffer.from(piece);
        })(),
      }),
    });
    forget();
    lines.push(
      ...log
        .split('\n')
        .slice(0, -1)
        .map((line) => `  ! ${line}`),
    );
    lines.push(
      ...out
        .split('\n')
        .slice(0, -1)
        .map((line) => `  ${line}`),
    );
    lines.push(`  = ${code}`);
    for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted()) {
      const isText = /\.(?:ndjson|csv|mts|json|ts|gitignore)$/.test(name);
      const content = isText ? readFileSync(inFolder(name), 'utf8') : '';
      if (before.get(name) === content) continue;
      before.set(name, content);
      lines.push(
        `  > ${name}`,
        ...content
          .split('\n')
          .filter(Boolean)
          .map((line) => `    ${line}`),
      );
    }
    for (const name of before.keys())
      if (!existsSync(inFolder(name)) && before.delete(name)) lines.push(`  > ${name} is gone`);
  }
  return withoutChance(lines.join('\n').replaceAll(/\p{Surrogate}/gu, '\ufffd'))
    .replaceAll(directory, 'DIR')
    .replaceAll(/(?<=127\.0\.0\.1:)\d+/g, 'PORT');
}
