import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { onTestFinished } from 'vitest';
import { type AirbyteMessage, airbyteMessage } from './airbyte-protocol.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const source = path('../../../../examples/airbyte-source/src/main.ts');
const tap = path('../../../../examples/airbyte-source/src/tap.ts');
const hooks = path('../../../support/from-source.mjs');

type Message<Type extends AirbyteMessage['type']> = Extract<AirbyteMessage, { type: Type }>;

/** The source as a platform runs it: a process for each command, files beside it, books behind a port. */
export async function openSource(options: SandboxOptions) {
  const sandbox = createSandbox(options);
  const { url } = await sandbox.listen();
  const folder = await mkdtemp(join(tmpdir(), 'airbyte-source-test-'));
  onTestFinished(async () => {
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  });
  const save = async (name: string, value: unknown) => {
    const file = join(folder, `${name}.json`);
    await writeFile(file, JSON.stringify(value));
    return file;
  };
  const config = (apiKey: string = sandbox.keys.full) => save('config', { base_url: url, api_key: apiKey });

  const airbyte = async (args: readonly string[], onLine?: (kill: () => void) => void) => {
    const { code, lines, complaints } = await run(source, args, onLine);
    return { code, complaints, messages: lines.map((line) => airbyteMessage.parse(JSON.parse(line))) };
  };
  const singer = async (args: readonly string[]) => {
    const { code, lines, complaints } = await run(tap, args);
    return { code, complaints, messages: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
  };
  return { sandbox, save, config, airbyte, singer };
}

export function only<Type extends AirbyteMessage['type']>(
  messages: readonly AirbyteMessage[],
  type: Type,
): Message<Type>[] {
  return messages.filter((message): message is Message<Type> => message.type === type);
}

/** Every stream chosen, as a person would in the platform. */
export function configured(
  messages: readonly AirbyteMessage[],
  sync_mode: 'incremental' | 'full_refresh' = 'incremental',
) {
  const streams = only(messages, 'CATALOG').flatMap(({ catalog }) => catalog.streams);
  return {
    streams: streams.map((stream) => ({ stream, sync_mode, destination_sync_mode: 'append_dedup' })),
  };
}

/** What the platform keeps: the last state of each stream. */
export function lastStates(messages: readonly AirbyteMessage[]) {
  const states = new Map(
    only(messages, 'STATE').map(({ state }) => [state.stream.stream_descriptor.name, state] as const),
  );
  return [...states.values()];
}

async function run(program: string, args: readonly string[], onLine?: (kill: () => void) => void) {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...env } = process.env;
  const child = spawn(process.execPath, ['--import', hooks, program, ...args], { env });
  let output = '';
  let complaints = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    onLine?.(() => child.kill('SIGKILL'));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  // Of a process that was killed the last line may be half a line.
  return { code, complaints, lines: output.split('\n').slice(0, -1) };
}
